/**
 * The entries of receipts: tokens that rows gave, and tokens that are on their way back. Some of them
 * depend on a transaction that is still open.
 */
import type { TakenTokens } from "../../../core/refund.js";
import type { Block } from "../../leases/block.js";
import type { RowId } from "../../store/store.js";

export class Entry {
  readonly rows: RowId[];
  /**
   * The tokens that each row gave, in the order of `rows`, and the tokens that came back to the row
   * since.
   */
  readonly taken: TakenTokens[];

  constructor(
    /** Tokens that the call keeps: those that were not given back. */
    public count: number,
    from: { readonly rows: readonly RowId[]; readonly taken: readonly TakenTokens[] },
    /** Whether the tokens were charged later, and not taken by the call itself. */
    readonly isCharge: boolean,
    /** The block of this process that the tokens are from. */
    readonly block?: Block,
  ) {
    this.rows = [...from.rows];
    this.taken = from.taken.map((each) => ({ ...each }));
  }

  /** Adds the tokens of another entry, as if they had been taken together with the tokens of this entry. */
  add({ count, rows, taken }: Entry): void {
    this.count += count;
    for (const [i, row] of rows.entries()) {
      const more = taken[i]!;
      const own = this.taken[this.rows.findIndex(({ shard }) => shard === row.shard)];
      if (own === undefined) {
        this.rows.push(row);
        this.taken.push({ ...more });
        continue;
      }
      // Counted from the earlier instant, more of these tokens have been replaced, so fewer can come
      // back.
      own.count += more.count;
      own.used += own.used < 0 ? -more.count : more.count;
    }
  }
}

/**
 * Tokens of an entry on their way back. Until the answer is there, each row may have got all of these
 * tokens, so the entry counts all of them as given back to each row. If the answer is lost, that count
 * stays.
 */
export class EntryRefund {
  readonly rows: readonly RowId[];
  /** The tokens that were taken, and the tokens that had come back before this refund. */
  readonly taken: readonly TakenTokens[];
  readonly count: number;
  readonly block: Block | undefined;
  #refunded: number[];
  #isUndone = false;

  /**
   * @param wanted tokens that are to be given back; the refund claims as many of them as the entry has.
   * @param entries the list that the entry belongs to.
   */
  constructor(
    private readonly entry: Entry,
    wanted: number,
    private readonly entries: Entry[],
  ) {
    this.rows = [...entry.rows];
    this.taken = entry.taken.map((each) => ({ ...each }));
    this.block = entry.block;
    this.count = Math.min(wanted, entry.count);
    entry.count -= this.count;
    this.#refunded = this.taken.map(({ count, refunded = 0 }) => {
      return Math.max(0, Math.min(this.count, count - refunded));
    });
    this.#note(1);
  }

  /** Notes the tokens that each row got back. The other tokens had been replaced already. */
  answer(refunded: readonly number[]): void {
    if (this.#isUndone) return;
    this.#note(-1);
    this.#refunded = [...refunded];
    this.#note(1);
  }

  /** Nothing came back: the transaction was rolled back. */
  undo(): void {
    this.#isUndone = true;
    this.entry.count += this.count;
    this.#note(-1);
    if (!this.entries.includes(this.entry)) this.entries.push(this.entry);
  }

  #note(sign: 1 | -1): void {
    for (const [i, tokens] of this.#refunded.entries()) {
      const each = this.entry.taken[i]!;
      each.refunded = (each.refunded ?? 0) + sign * tokens;
    }
  }
}

/** The committed part of a receipt. */
interface Committed {
  readonly entries: Entry[];
}

/**
 * One try of a `transaction`, for receipts. Its charges and the results of its calls count outside only
 * once the try is committed. Tokens that the try gives back are claimed at once, so that no other call
 * gives the same tokens back. The claims are released if the try is rolled back.
 */
export class TransactionScope {
  /** Whether the caller's function has resolved, so that a commit may have followed. */
  isRun = false;
  #outcome: "open" | "committed" | "rolled back" | "unknown" = "open";
  readonly #entries = new Map<Committed, Entry[]>();
  readonly #turns = new Map<Committed, Promise<unknown>>();
  readonly #refunds: EntryRefund[] = [];

  get outcome() {
    return this.#outcome;
  }

  /** The entries of a result in this transaction, while the transaction is open. */
  entriesOf(receipt: Committed): Entry[] {
    if (this.#outcome !== "open") return [];
    let entries = this.#entries.get(receipt);
    if (entries === undefined) this.#entries.set(receipt, (entries = []));
    return entries;
  }

  noteRefunds(refunds: readonly EntryRefund[]): void {
    this.#refunds.push(...refunds);
  }

  /** Runs `work` after the corrections of the same result in this transaction. */
  inTurn<TResult>(receipt: Committed, work: () => Promise<TResult>): Promise<TResult> {
    const running = (this.#turns.get(receipt) ?? Promise.resolve()).then(work);
    const settled = running.catch(() => {});
    this.#turns.set(receipt, settled);
    return running;
  }

  /**
   * @param outcome `"unknown"` where the answer to the commit was lost. Then no refund is released, so
   * that no token comes back twice, and no entry of the try counts.
   */
  end(outcome: "committed" | "rolled back" | "unknown"): void {
    this.#outcome = outcome;
    if (outcome === "committed") {
      for (const [receipt, entries] of this.#entries) receipt.entries.push(...entries);
    }
    if (outcome === "rolled back") for (const refund of this.#refunds) refund.undo();
    this.#entries.clear();
    this.#refunds.length = 0;
  }
}
