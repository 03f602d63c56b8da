/**
 * How several limits pay for one call together: each gives what it has, in order, until the call has
 * its tokens. Pure. The server pays with it, and a page predicts with it.
 */

/** The tokens that one limit can give. */
export interface Purse {
  /** Tokens; negative while tokens are owed. */
  value: number;
  /** The tokens that a call may lack, see `toleranceOf`. */
  tolerance: number;
}

/**
 * The tokens that each limit gives, `undefined` where they have too few together. A limit gives whole
 * tokens to a call for a whole number of them, so that no balance becomes a fraction.
 */
export function sharesOf(purses: readonly Purse[], count: number): number[] | undefined {
  const isWhole = Number.isInteger(count);
  let rest = count;
  const shares = purses.map((purse) => {
    const share = has(purse, rest) ? rest : Math.max(0, isWhole ? wholeOf(purse) : purse.value);
    rest -= share;
    return share;
  });
  // Not so where a number is not valid, either.
  return rest <= 0 ? shares : undefined;
}

/** The whole tokens of a limit. It may be a little more than it holds, as for a call. */
function wholeOf(purse: Purse): number {
  const most = Math.floor(purse.value + purse.tolerance);
  return has(purse, most) ? most : most - 1;
}

/** Compares as a decision does, see `takeTokens`. */
function has({ value, tolerance }: Purse, count: number): boolean {
  return value - count >= -tolerance;
}
