/**
 * Reads the table of overrides: at first the whole table, page by page, so that other work of the process
 * goes on in between; later only the changes.
 */
import type { OverrideRow, OverrideTable } from "../../../store/override-table.js";
import type { Call } from "../../../store/store.js";
import { startTimer } from "../../../timers/timer.js";
import { OverrideCopy } from "./override-copy.js";

/** How many rows are read, and parsed, before other work has a turn. */
const PAGE = 1000;
/**
 * How far before the last read changes are looked for, ms: clocks differ, and a transaction commits later
 * than it has written.
 */
const BACK = 60_000;
/**
 * How often the whole table is read all the same, ms. This read finds rows that were committed more than
 * `BACK` after they were written.
 */
const WHOLE_EVERY = 600_000;

export interface ReadOverridesOptions {
  table: OverrideTable;
  clock(): number;
  /** Bounds one round trip. */
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
}

/** All rows, a page at a time. */
export async function* overridePages({
  table,
  bound,
}: Pick<ReadOverridesOptions, "table" | "bound">): AsyncGenerator<readonly OverrideRow[], void> {
  if (table.readPage === undefined) {
    const rows = await bound((call) => table.read(call));
    for (let i = 0; i < rows.length; i += PAGE) {
      if (i > 0) await turn();
      yield rows.slice(i, i + PAGE);
    }
    return;
  }
  let last: OverrideRow | undefined;
  for (;;) {
    const page = await bound((call) => table.readPage!(last, PAGE, call));
    yield page;
    if (page.length < PAGE) return;
    last = page.at(-1);
    // A client of SQLite answers without giving other work a turn.
    await turn();
  }
}

export class OverrideReader {
  readonly #options: ReadOverridesOptions;
  readonly #notValid: (row: OverrideRow) => void;
  #copy: OverrideCopy;
  /** When the last read began, by the limiter's clock. */
  #since = Infinity;
  /** When the whole table was last read, by the monotonic clock. */
  #wholeAt = -Infinity;

  constructor(options: ReadOverridesOptions, notValid: (row: OverrideRow) => void) {
    this.#options = options;
    this.#notValid = notValid;
    this.#copy = new OverrideCopy(notValid);
  }

  get copy(): OverrideCopy {
    return this.#copy;
  }

  /** Resolves with the present table. Use it at once, because later reads change it. */
  async read(): Promise<OverrideCopy> {
    const { clock } = this.#options;
    const before = clock();
    const isKnown = performance.now() - this.#wholeAt < WHOLE_EVERY;
    if (!isKnown || !(await this.#readChanges())) await this.#readWhole();
    // Before the first trip, the clock may have been ahead.
    this.#since = Math.min(before, clock());
    return this.#copy;
  }

  /** The rows as a transaction sees them. */
  use(rows: readonly OverrideRow[]): void {
    const copy = new OverrideCopy(this.#notValid);
    for (const row of rows) copy.put(row, this.#copy);
    this.#copy = copy;
  }

  /** @returns whether the copy is complete now, as far as the number of rows tells. */
  async #readChanges(): Promise<boolean> {
    const { table, bound } = this.#options;
    if (table.readChanges === undefined) return false;
    const since = this.#since - BACK;
    const { rows, count } = await bound((call) => table.readChanges!(since, call));
    for (const row of rows) this.#copy.put(row);
    return this.#copy.count === count;
  }

  async #readWhole(): Promise<void> {
    const wholeAt = performance.now();
    const { clock } = this.#options;
    const from = clock();
    const copy = new OverrideCopy(this.#notValid);
    for await (const page of overridePages(this.#options)) {
      for (const row of page) copy.put(row, this.#copy);
    }
    this.#copy = copy;
    this.#wholeAt = wholeAt;
    this.#since = Math.min(from, clock());
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => void startTimer(resolve, 0));
}
