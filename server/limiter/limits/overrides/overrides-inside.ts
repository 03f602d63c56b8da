/**
 * Overrides inside a transaction. The overrides and the application's own rows are committed together, or
 * rolled back. Until the commit, only calls of this transaction go by the overrides that it has written.
 */
import type { InsideTurn, JoinedStore, RateLimitStore } from "../../../store/store.js";
import type { OverrideRow, OverrideRowIds, OverrideTable } from "../../../store/override-table.js";
import type { KeyOptions, PlanOptions } from "../../types/call.js";
import type { ResolvedLimit } from "../resolved-limit.js";
import { noOverridesInside } from "../../types/unsupported.js";
import { createOverrideLimit, type OverrideLimitOptions } from "./override-limit.js";
import { besideOf, earlierRow, type OverrideChange, setNow } from "./override-change.js";
import { createOverrideOperations, type OverrideOperationsOptions } from "./override-operations.js";
import type { RateLimitOverrides } from "../../types/override-types.js";
import { overridesByName, type OverridesOfLimit } from "./overrides-by-name.js";

/** The transaction, and the listener of its changes. */
export interface OverridesJoined {
  tx: unknown;
  store: JoinedStore;
  /** Called after a write. The table changes when the transaction commits. */
  changed(change: OverrideChange): void;
}

export interface OverridesInsideOptions extends OverrideLimitOptions, OverrideOperationsOptions {
  store: RateLimitStore;
  table: OverrideTable;
  /** The overrides that the process knows. The transaction goes by them until it changes the table. */
  known: OverrideLimitOptions["known"];
}

export class OverridesInside {
  readonly operations: RateLimitOverrides;
  readonly #options: OverridesInsideOptions;
  readonly #joined: OverridesJoined;
  readonly #applied: ReturnType<typeof createOverrideLimit>;
  /** The table as the transaction sees it; `undefined` until the transaction has changed the table. */
  #seen: Map<string, OverridesOfLimit> | undefined;

  constructor(options: OverridesInsideOptions, joined: OverridesJoined) {
    this.#options = options;
    this.#joined = joined;
    const of = (name: string) =>
      this.#seen === undefined ? options.known.of(name) : this.#seen.get(name);
    this.#applied = createOverrideLimit({ ...options, known: { of } });
    this.operations = createOverrideOperations(options, {
      pages: () => this.#pages(),
      readOf: (id) => this.#inTurn((turn) => this.#read(turn, id)),
      change: (change) => this.#inTurn((turn) => this.#change(turn, change)),
    });
  }

  /** Whether calls go by the table as this transaction sees it. */
  get hasOwnView(): boolean {
    return this.#seen !== undefined;
  }

  resolve(name: string, of: KeyOptions & PlanOptions, needsPlan?: boolean): ResolvedLimit {
    return this.#applied(this.#options.resolve(name, of, needsPlan), of);
  }

  /** For a transaction that has changed the table through another object. */
  async readOwnView(): Promise<void> {
    this.#seen = overridesByName(await this.#inTurn((turn) => this.#read(turn)));
  }

  async *#pages(): AsyncGenerator<OverrideRow[], void> {
    yield await this.#inTurn((turn) => this.#read(turn));
  }

  async #change(turn: InsideTurn, change: OverrideChange): Promise<boolean> {
    const { table, clock } = this.#options;
    const { tx, changed } = this.#joined;
    if (table.writeWithin === undefined) throw noOverridesInside(this.#options.store);
    // From the answer of this read, this process learns the clock of the database.
    const others = await this.#read(turn, besideOf(change));
    const row = change.row === undefined ? change.id : setNow(change.row, clock, others);
    const isThere = await turn.send(() => table.writeWithin!(tx, row));
    const earlier = change.row && earlierRow(change.row, others);
    if (earlier !== undefined) {
      const { name, key } = earlier;
      await turn.send(() => table.writeWithin!(tx, { name, key }));
    }
    this.#seen = overridesByName(await this.#read(turn));
    if (isThere) changed(change);
    return isThere;
  }

  #read({ send }: InsideTurn, of?: OverrideRowIds): Promise<OverrideRow[]> {
    const { table } = this.#options;
    if (table.readWithin === undefined) throw noOverridesInside(this.#options.store);
    return send(() => table.readWithin!(this.#joined.tx, of));
  }

  async #inTurn<TResult>(work: (turn: InsideTurn) => Promise<TResult>): Promise<TResult> {
    const { store } = this.#joined;
    if (store.inTurn !== undefined) return store.inTurn(work);
    return work({ apply: (...call) => store.apply(...call), send: (statement) => statement() });
  }
}
