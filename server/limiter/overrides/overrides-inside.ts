/**
 * Overrides inside a transaction. What it writes, the row that moves with it, and the application's
 * own rows are committed together, or rolled back. Until the commit, only calls of this transaction go
 * by what it has written.
 */
import type { InsideTurn, JoinedStore, RateLimitStore, RowId } from "../../store/store.js";
import type { OverrideRow, OverrideTable } from "../../store/override-table.js";
import type { KeyOptions } from "../call-options.js";
import { ClaimDecision } from "../draft.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import { noOverridesInside } from "../unsupported.js";
import { changedTable, limitsOf, moving, type OverrideChange } from "./change-override.js";
import { createOverrideLimit, type OverrideLimitOptions } from "./override-limit.js";
import { createOverrideOperations, type OverrideOperationsOptions } from "./override-operations.js";
import type { RateLimitOverrides } from "./override-types.js";
import { overridesByName, type OverridesOfLimit } from "./overrides-by-name.js";

/** The transaction, and who is told of what happens in it. */
export interface OverridesJoined {
  tx: unknown;
  store: JoinedStore;
  /** Whether others can write between two statements of the transaction, which its owner began. */
  locksFirst: boolean;
  /** What this process holds of a row ends. */
  rowChanged(row: RowId): void;
  /** The table has changed, if the transaction is committed. */
  changed(change: OverrideChange): void;
}

export interface OverridesInsideOptions extends OverrideLimitOptions, OverrideOperationsOptions {
  store: RateLimitStore;
  table: OverrideTable;
  /** What the process knows: as long as the transaction has changed nothing, it goes by that. */
  known: OverrideLimitOptions["known"];
}

export class OverridesInside {
  readonly operations: RateLimitOverrides;
  readonly #options: OverridesInsideOptions;
  readonly #joined: OverridesJoined;
  readonly #applied: ReturnType<typeof createOverrideLimit>;
  /** The table as the transaction sees it, once it has changed it. */
  #seen: Map<string, OverridesOfLimit> | undefined;

  constructor(options: OverridesInsideOptions, joined: OverridesJoined) {
    this.#options = options;
    this.#joined = joined;
    const of = (name: string) =>
      this.#seen === undefined ? options.known.of(name) : this.#seen.get(name);
    this.#applied = createOverrideLimit({ ...options, known: { of } });
    this.operations = createOverrideOperations(options, {
      read: () => this.#inTurn((turn) => this.#read(turn)),
      change: (change) => this.#inTurn((turn) => this.#change(turn, change)),
    });
  }

  /** Whether calls go by the table as this transaction sees it. */
  get hasOwnView(): boolean {
    return this.#seen !== undefined;
  }

  resolve(name: string, of: KeyOptions): ResolvedLimit {
    return this.#applied(this.#options.resolve(name, of), of.config);
  }

  /** For a transaction that has changed the table through another object. */
  async readOwnView(): Promise<void> {
    this.#seen = overridesByName(await this.#inTurn((turn) => this.#read(turn)));
  }

  async #change(turn: InsideTurn, change: OverrideChange): Promise<boolean> {
    const { table, clock } = this.#options;
    const { tx, locksFirst, rowChanged, changed } = this.#joined;
    const [row] = change.plain.rows;
    if (table.writeWithin === undefined) throw noOverridesInside(this.#options.store);
    // Two changes of one key would both start from the table before them.
    if (locksFirst) await turn.apply([locking(row, clock)]);
    const rows = await this.#read(turn);
    const limits = limitsOf(this.#options, change, rows);
    rowChanged(row);
    if (limits !== undefined) await turn.apply([moving(limits, clock)]);
    const isThere = await turn.send(() => table.writeWithin!(tx, change.row ?? change.id, rows));
    this.#seen = overridesByName(changedTable(rows, change));
    if (isThere) changed(change);
    return isThere;
  }

  #read({ send }: InsideTurn): Promise<OverrideRow[]> {
    const { table } = this.#options;
    if (table.readWithin === undefined) throw noOverridesInside(this.#options.store);
    return send(() => table.readWithin!(this.#joined.tx));
  }

  async #inTurn<TResult>(work: (turn: InsideTurn) => Promise<TResult>): Promise<TResult> {
    const { store } = this.#joined;
    if (store.inTurn !== undefined) return store.inTurn(work);
    return work({ apply: (...call) => store.apply(...call), send: (statement) => statement() });
  }
}

/** Writes nothing. The transaction then holds the row, if it is there. */
function locking(row: RowId, clock: () => number): ClaimDecision<void> {
  return new ClaimDecision({ rows: [row], attempt: (draft) => void draft.read(row) }, clock);
}
