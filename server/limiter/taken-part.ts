/**
 * Tokens that were taken for one result, and those of them that came back since. The tokens of the
 * call are one part, and what `settle` charged later is another one.
 */
import type { TakenTokens } from "../../core/refund.js";
import type { Block } from "../leases/block.js";
import type { RowId } from "../store/store.js";

export class TakenPart {
  readonly rows: RowId[];
  /** What each row gave, in the order of `rows`, and what came back to it since. */
  readonly taken: TakenTokens[];

  constructor(
    /** Tokens that are kept, after those that were given back. */
    public count: number,
    from: { readonly rows: readonly RowId[]; readonly taken: readonly TakenTokens[] },
    /** Whether they were charged later, and not taken by the call itself. */
    readonly isCharge: boolean,
    /** The block of this process that they are from. */
    readonly block?: Block,
  ) {
    this.rows = [...from.rows];
    this.taken = from.taken.map((each) => ({ ...each }));
  }

  /** As if these tokens had been taken together with its own. */
  add({ count, rows, taken }: TakenPart): void {
    this.count += count;
    for (const [i, row] of rows.entries()) {
      const more = taken[i]!;
      const own = this.taken[this.rows.findIndex(({ shard }) => shard === row.shard)];
      if (own === undefined) {
        this.rows.push(row);
        this.taken.push({ ...more });
        continue;
      }
      // Seen from the earlier instant, more of it has been replaced, so less can come back.
      own.count += more.count;
      own.value -= more.count;
      own.refunded = (own.refunded ?? 0) + (more.refunded ?? 0);
    }
  }
}

/**
 * Tokens of a part on their way back. Until the answer is there, each row may have got all of them,
 * so that is what the part remembers meanwhile. It stays so if the answer is lost.
 */
export class RefundClaim {
  readonly rows: readonly RowId[];
  /** What was taken, and what had come back before this claim. */
  readonly taken: readonly TakenTokens[];
  readonly count: number;
  readonly block: Block | undefined;
  #refunded: number[];
  #isUndone = false;

  /**
   * @param wanted tokens that are to be given back; it claims as many of them as the part has.
   * @param parts the list that the part belongs to.
   */
  constructor(
    private readonly part: TakenPart,
    wanted: number,
    private readonly parts: TakenPart[],
  ) {
    this.rows = [...part.rows];
    this.taken = part.taken.map((each) => ({ ...each }));
    this.block = part.block;
    this.count = Math.min(wanted, part.count);
    part.count -= this.count;
    this.#refunded = this.taken.map(({ count, refunded = 0 }) => {
      return Math.max(0, Math.min(this.count, count - refunded));
    });
    this.#note(1);
  }

  /** Notes what each row got back. The other tokens had been replaced already. */
  answer(refunded: readonly number[]): void {
    if (this.#isUndone) return;
    this.#note(-1);
    this.#refunded = [...refunded];
    this.#note(1);
  }

  /** Nothing came back: the transaction was rolled back. */
  undo(): void {
    this.#isUndone = true;
    this.part.count += this.count;
    this.#note(-1);
    if (!this.parts.includes(this.part)) this.parts.push(this.part);
  }

  #note(sign: 1 | -1): void {
    for (const [i, tokens] of this.#refunded.entries()) {
      const each = this.part.taken[i]!;
      each.refunded = (each.refunded ?? 0) + sign * tokens;
    }
  }
}
