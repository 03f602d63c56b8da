/** The overrides of one limiter, for all its operations. */
import type { Bucket } from "../../../../core/config.js";
import { describe, RateLimitConfigError } from "../../../../core/errors.js";
import type { ChangeChannel } from "../../../changes/change-channel.js";
import type { KeyOptions, PlanOptions } from "../../types/call.js";
import type { PlanTable } from "../plans/plan-table.js";
import type { LimitDefaults, ResolvedLimit } from "../resolved-limit.js";
import { unsupported } from "../../types/unsupported.js";
import type { RateLimitLogger } from "../../../report/logger.js";
import type { OverrideTable } from "../../../store/override-table.js";
import type { Call, RateLimitStore } from "../../../store/store.js";
import { KnownOverrides } from "./known-overrides.js";
import { createOverrideLimit } from "./override-limit.js";
import { createOverrideOperations, type OverrideAccess } from "./override-operations.js";
import { MAX_KEY_LENGTH } from "../../../../core/validate-key.js";
import type { RateLimitOverride, RateLimitOverrides } from "../../types/override-types.js";
import { ChangeLog, type RowState } from "./change-log.js";
import { type Layers, layersAt, layersIn } from "./overrides-by-name.js";
import { LONGEST_PREFIX, rowNamesOf } from "./override-row.js";
import { restore, statesOf } from "./override-states.js";
import { configsUnder } from "./override-configs.js";
import { forgetOverrides, ownAccess } from "./own-access.js";
import { OverridesInside, type OverridesJoined } from "./overrides-inside.js";

/** How old the table of overrides may be, ms. */
const DEFAULT_OVERRIDES_FOR = 10_000;

export interface OpenOverridesOptions {
  store: RateLimitStore;
  configs: ReadonlyMap<string, Bucket>;
  plans: PlanTable;
  clock(): number;
  defaults: LimitDefaults;
  channel: ChangeChannel | undefined;
  logger: RateLimitLogger;
  resolve(name: string, options: KeyOptions & PlanOptions, needsPlan?: boolean): ResolvedLimit;
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
  published(): void;
}

/**
 * @returns `undefined` for a limiter without overrides. Such a limiter reads no table, and its calls do
 * no extra work.
 * @throws RateLimitConfigError when an option cannot work, or the store has no such table.
 */
export function openOverrides(
  { overrides = false, overridesFor }: { overrides?: unknown; overridesFor?: unknown },
  options: OpenOverridesOptions,
): Overriding | undefined {
  validate(overrides, overridesFor);
  if (overrides === false) return undefined;
  const { store } = options;
  if (store.overrides === undefined) throw unsupported(store, "overrides");
  const age = (overridesFor as number | undefined) ?? DEFAULT_OVERRIDES_FOR;
  for (const name of options.configs.keys()) validateName(name);
  return new Overriding(options, store.overrides, age);
}

export class Overriding {
  /** Applies the overrides to a limit that was resolved without them. */
  readonly applied: ReturnType<typeof createOverrideLimit>;
  readonly operations: RateLimitOverrides;
  /** What operators have changed. */
  readonly log: ChangeLog;
  readonly #access: OverrideAccess;
  readonly #options: OpenOverridesOptions;
  readonly #table: OverrideTable;
  readonly #known: KnownOverrides;
  /** The open transactions of the limiter that have changed the table. */
  readonly #writing = new Set<unknown>();

  constructor(options: OpenOverridesOptions, table: OverrideTable, overridesFor: number) {
    this.#options = options;
    this.#table = table;
    const known = (this.#known = new KnownOverrides({ ...options, table, overridesFor }));
    this.applied = createOverrideLimit({ ...options, known });
    this.#access = ownAccess({ ...options, table, known });
    this.operations = createOverrideOperations(options, this.#access);
    this.log = new ChangeLog({ ...options, access: this.#access, rows: () => known.rows() });
  }

  /** The same operations for keys that are resolved in another way, such as stored ones. */
  operationsBy(resolve: OpenOverridesOptions["resolve"]): RateLimitOverrides {
    return createOverrideOperations({ ...this.#options, resolve }, this.#access);
  }

  /** The overrides of a key, or of all keys, that are in force, each over those before it. */
  async layersOf(name: string, key: string | undefined): Promise<RateLimitOverride[]> {
    const rows = await this.#access.readOf({ names: rowNamesOf(name), key: key ?? "" });
    return layersIn(rows, name, key ?? "", this.#options.clock());
  }

  /** The overrides of all limits that are in force, after a look at the table. */
  async allNow(): Promise<RateLimitOverride[]> {
    await this.#known.rows();
    const now = this.#options.clock();
    const found: RateLimitOverride[] = [];
    for (const name of this.#options.configs.keys()) {
      for (const override of this.#known.ofName(name)) {
        if (now < (override.until ?? Infinity)) found.push(override);
      }
    }
    return found;
  }

  /** The rows of a key that are in force, by the name of the row, in the order in which they were set. */
  statesOf(name: string, key: string | undefined): Promise<Map<string, RowState>> {
    return statesOf({ ...this.#options, access: this.#access }, name, key);
  }

  /** Writes rows back as they were, and deletes those that were not there. */
  restore(
    ...of: [name: string, key: string | undefined, rows: ReadonlyMap<string, RowState | undefined>]
  ): Promise<void> {
    return restore({ ...this.#options, access: this.#access }, ...of);
  }

  resolve(name: string, of: KeyOptions & PlanOptions, needsPlan?: boolean): ResolvedLimit {
    return this.applied(this.#options.resolve(name, of, needsPlan), of);
  }

  /**
   * The read that a call has to wait for; `undefined` for none. A transaction waits before it begins,
   * because it may hold the only connection.
   */
  fresh(): Promise<void> | undefined {
    return this.#known.fresh();
  }

  /** For a transaction of the limiter's own, which has several tries, and says when it has ended. */
  transaction() {
    const writing = new Set<unknown>();
    return {
      inside: (joined: OverridesJoined): OverridesInside =>
        this.#inside({
          ...joined,
          changed: (change) => {
            writing.add(joined.tx);
            this.#writing.add(joined.tx);
            joined.changed(change);
          },
        }),
      ended: async (): Promise<void> => {
        if (writing.size === 0) return;
        for (const tx of writing) this.#writing.delete(tx);
        this.#known.changed();
        // If this read fails, the next call reads the table.
        await this.#known.readAgain().catch(() => {});
      },
    };
  }

  /** Inside a transaction of the caller's own, whose end is not told. */
  using(joined: Pick<OverridesJoined, "tx" | "store">): OverridesInside {
    const { published } = this.#options;
    return this.#inside({
      ...joined,
      changed: (change) => this.#known.awaitCommit(joined.tx, change, published),
    });
  }

  #inside(joined: OverridesJoined): OverridesInside {
    return new OverridesInside(
      { ...this.#options, table: this.#table, known: this.#known },
      joined,
    );
  }

  /** The read that a call in a transaction of the caller's own has to wait for; `undefined` for none. */
  freshWithin(tx: unknown, inside: OverridesInside): Promise<void> | undefined {
    if (inside.hasOwnView) return undefined;
    const table = this.#table;
    if (table.readWithin === undefined) return this.#known.fresh();
    if (this.#writing.has(tx) || this.#known.isAwaited(tx)) return inside.readOwnView();
    return this.#known.fresh(() => table.readWithin!(tx));
  }

  /** Whether a limit lets its calls through when the store fails. */
  isOpen(name: string): boolean {
    const { configs, defaults } = this.#options;
    return (configs.get(name)?.whenStoreFails ?? defaults.whenStoreFails) === "allow";
  }

  /**
   * The configs of limits, and the configs that overrides make of them. Only a row that is full under all
   * of them may be pruned.
   */
  async allConfigs(
    byName: ReadonlyMap<string, readonly Bucket[]>,
  ): Promise<Map<string, readonly Bucket[]>> {
    await this.#known.fresh();
    const all = [...byName].map(([name, given]): [string, readonly Bucket[]] => {
      return [name, configsUnder(this.#options, name, given, [...this.#known.ofName(name)])];
    });
    return new Map(all);
  }

  /** The stored keys of a limit that are blocked now, in order, and whether all keys are. */
  async blockedKeys(name: string): Promise<{ all: boolean; keys: string[] }> {
    await this.#known.fresh();
    const { all = [], byKey = [] } = this.#known.of(name) ?? {};
    const now = this.#options.clock();
    const isBlocked = (layers: Layers) => layersAt(layers, now).at(-1)?.kind === "blocked";
    const keys = [...byKey].flatMap(([key, layers]) => (isBlocked(layers) ? key : []));
    return { all: isBlocked(all), keys: keys.toSorted() };
  }

  forget(storedKey: string): Promise<number> {
    const { bound, published } = this.#options;
    return forgetOverrides({ table: this.#table, known: this.#known, bound, published }, storedKey);
  }

  removeEnded(before: number): Promise<unknown> {
    return this.#options.bound((call) => this.#table.removeEnded(before, call));
  }
}

function validate(overrides: unknown, overridesFor: unknown): void {
  if (typeof overrides !== "boolean") {
    throw new RateLimitConfigError("overrides", overrides, "a boolean");
  }
  if (overridesFor === undefined) return;
  if (!Number.isSafeInteger(overridesFor) || (overridesFor as number) < 0) {
    throw new RateLimitConfigError(
      "overridesFor",
      overridesFor,
      "a whole number of ms of at least 0",
    );
  }
  if (overrides) return;
  const message = "overridesFor is for a limiter with overrides: true; add that, or leave it out";
  throw new RateLimitConfigError("overridesFor", overridesFor, { message });
}

/** @throws RateLimitConfigError when the name of a row would be too long for a database. */
function validateName(name: string): void {
  const most = MAX_KEY_LENGTH - LONGEST_PREFIX;
  if (name.length <= most) return;
  const message =
    `overrides need names of at most ${most} characters, because their rows have longer ones; ` +
    `got ${describe(name)}`;
  throw new RateLimitConfigError("overrides", name, { message });
}
