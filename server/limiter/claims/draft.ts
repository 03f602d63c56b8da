/**
 * The reads and the writes of a decision, row by row, before they reach the store. A row that was read
 * and not written is guarded: the store applies the decision only if that row is still as it was. So an
 * answer cannot rest on a row that another process has changed meanwhile.
 *
 * - `read` is for a row that the answer depends on.
 * - `peek` is for a row that may change without making the answer wrong: the shard that a call leaves
 *   alone, or a count of closings beside a grant.
 * - `fork` is for trying a claim. The reads and writes of a fork count only once it is adopted.
 */
import type { Row } from "../../../core/rows/row.js";
import {
  type Decision,
  type Outcome,
  type PlainTake,
  rowKey,
  type RowId,
} from "../../store/store.js";
import type { HoldingLimit } from "../limits/holding-limit.js";
import { type Crossed, warnedRows, type WarnedRow, writeWarnings } from "./warnings.js";

type MaybeRow = Row | null;

/** A claim: the tokens that a call wants of some rows, or another change of them. */
export interface Claim<TAnswer> {
  /** All rows that `attempt` uses. A row that is there twice is one row. */
  readonly rows: readonly RowId[];
  /**
   * Whether a denial of the claim is only reported (`shadow`), so that it denies no claim beside this
   * claim.
   */
  readonly isShadow?: boolean | undefined;
  /** Present if a store may take the tokens by itself, on the first of the rows. */
  readonly plain?: PlainTake<TAnswer> | undefined;
  /** After a denial: the limits of the claim that have open holds. */
  readonly holding?: readonly HoldingLimit[] | undefined;
  /** Answers by the draft, and writes into it. May run more than once. Only the last run counts. */
  attempt(draft: Draft, now: number): TAnswer;
}

export class Draft {
  readonly #rows: readonly RowId[];
  readonly #stored: readonly MaybeRow[];
  readonly #from: Draft | undefined;
  readonly #read: boolean[] = [];
  readonly #next: (MaybeRow | undefined)[] = [];
  #writes = 0;
  /** The index of the row after the last one: rows are mostly used in their order. */
  #following = 0;

  /**
   * @param rows the rows of the decision, each of them once.
   * @param stored their states.
   */
  constructor(rows: readonly RowId[], stored: readonly MaybeRow[], from?: Draft) {
    this.#rows = rows;
    this.#stored = stored;
    this.#from = from;
  }

  get isWritten(): boolean {
    return this.#writes > 0;
  }

  /** How often a row was written. */
  get writes(): number {
    return this.#writes;
  }

  read(row: RowId): MaybeRow {
    const at = this.#indexOf(row);
    this.#read[at] = true;
    return this.#stateAt(at);
  }

  peek(row: RowId): MaybeRow {
    return this.#stateAt(this.#indexOf(row));
  }

  /** Looks at a row as it was before the decision, whatever was written into it since. */
  peekStored(row: RowId): MaybeRow {
    return this.#stored[this.#indexOf(row)]!;
  }

  /** {@link peekStored} for a row that the answer depends on. */
  readStored(row: RowId): MaybeRow {
    const at = this.#indexOf(row);
    this.#read[at] = true;
    return this.#stored[at]!;
  }

  /** @param next `null` deletes the row. */
  write(row: RowId, next: MaybeRow): void {
    this.#next[this.#indexOf(row)] = next;
    this.#writes++;
  }

  fork(): Draft {
    return new Draft(this.#rows, this.#stored, this);
  }

  /** Takes over a fork's writes and reads. */
  adopt(fork: Draft): void {
    this.note(fork);
    // `forEach` leaves out the rows that were not written.
    fork.#next.forEach((next, at) => (this.#next[at] = next));
    this.#writes += fork.#writes;
  }

  /** Takes over a fork's reads alone: the fork's answer counts, and its writes do not. */
  note(fork: Draft): void {
    fork.#read.forEach((_, at) => (this.#read[at] = true));
  }

  /** The only place where guards are made. */
  outcome<TResult>(result: TResult): Outcome<TResult> {
    if (this.#writes === 0) return { result };
    const writes = this.#stored.map((was, at) => {
      const next = this.#next[at];
      return next === undefined && this.#read[at] ? was : next;
    });
    return { result, writes };
  }

  #stateAt(at: number): MaybeRow {
    const next = this.#next[at];
    if (next !== undefined) return next;
    return this.#from === undefined ? this.#stored[at]! : this.#from.#stateAt(at);
  }

  #indexOf(row: RowId): number {
    const rows = this.#rows;
    let at = rows[this.#following] === row ? this.#following : rows.indexOf(row);
    // Two claims may name one row by two objects.
    if (at === -1) at = rows.findIndex((each) => rowKey(each) === rowKey(row));
    if (at === -1) throw new Error(`the decision does not name the row "${row.name}" that it uses`);
    this.#following = at + 1;
    return at;
  }
}

/** A claim as a decision for a store. */
export class ClaimDecision<TAnswer> implements Decision<TAnswer> {
  readonly rows: readonly RowId[];
  /** When the last decision was made, by the limiter's clock, epoch ms. */
  now = 0;
  /** Whether the last decision changed a row. */
  isChange = false;
  /** The levels of `warnAt` that the last decision crossed. */
  crossed: readonly Crossed[] = NONE;
  readonly #warned: readonly WarnedRow[];

  /** @param readOnly whether the decision only says what the claim would get, and writes nothing. */
  constructor(
    readonly claim: Claim<TAnswer>,
    readonly clock: () => number,
    readonly readOnly: boolean = false,
  ) {
    this.#warned = readOnly ? NONE : warnedRows(claim.rows, clock);
    const warnings = this.#warned.flatMap(({ rows }) => rows);
    this.rows = distinct(warnings.length > 0 ? [...claim.rows, ...warnings] : claim.rows);
  }

  /** See `ReclaimingClaim`. */
  get holding(): Claim<TAnswer>["holding"] {
    return this.claim.holding;
  }

  get plain(): PlainTake<TAnswer> | undefined {
    return this.claim.plain;
  }

  decide(states: readonly MaybeRow[]): Outcome<TAnswer> {
    this.now = this.clock();
    const draft = new Draft(this.rows, states);
    const answer = this.claim.attempt(draft, this.now);
    if (this.readOnly) return { result: answer };
    this.isChange = draft.isWritten;
    if (this.#warned.length > 0) this.crossed = writeWarnings(draft, this.#warned, this.now);
    return draft.outcome(answer);
  }
}

const NONE: readonly never[] = [];

function distinct(rows: readonly RowId[]): readonly RowId[] {
  if (rows.length === 1) return rows;
  const byKey = new Map<string, RowId>();
  for (const row of rows) {
    const key = rowKey(row);
    if (!byKey.has(key)) byKey.set(key, row);
  }
  return byKey.size === rows.length ? rows : [...byKey.values()];
}
