/**
 * How several limits pay for one call together: each gives what it has, in order, until the call has
 * its tokens. Pure. Both the server, which decides, and a page, which predicts, use this code.
 */

/** The tokens that one limit can give. */
export interface Purse {
  /** Tokens; negative while tokens are owed. */
  value: number;
  /** The tokens that a call may lack, see `toleranceOf`. */
  tolerance: number;
}

/**
 * The tokens that each limit gives; `undefined` where the limits have too few together. To a call for a
 * whole number of tokens, a limit gives whole tokens, so that no balance becomes a fraction.
 */
export function sharesOf(purses: readonly Purse[], count: number): number[] | undefined {
  const isWhole = Number.isInteger(count);
  let rest = count;
  const shares = purses.map((purse) => {
    const share = has(purse, rest) ? rest : Math.max(0, isWhole ? wholeOf(purse) : purse.value);
    rest -= share;
    return share;
  });
  // A NaN gives no shares: every comparison with NaN is false.
  return rest <= 0 ? shares : undefined;
}

/** The whole tokens of a limit: 3 where it holds 2.9999999999, because a call for 3 would pass, too. */
export function wholeOf(purse: Purse): number {
  const most = Math.floor(purse.value + purse.tolerance);
  return has(purse, most) ? most : most - 1;
}

/** Compares as a decision does, see `takeTokens`. */
function has({ value, tolerance }: Purse, count: number): boolean {
  return value - count >= -tolerance;
}
