/** The overrides of one limiter, for all its operations. */
import type { Bucket } from "../../../../core/config.js";
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { ChangeChannel } from "../../../changes/change-channel.js";
import type { KeyOptions, PlanOptions } from "../../types/call.js";
import type { PlanTable } from "../plans/plan-table.js";
import type { LimitDefaults, ResolvedLimit } from "../resolved-limit.js";
import { unsupported } from "../../types/unsupported.js";
import type { RateLimitLogger } from "../../../report/logger.js";
import type { OverrideTable } from "../../../store/override-table.js";
import type { Call, RateLimitStore } from "../../../store/store.js";
import { KnownOverrides } from "./known-overrides.js";
import { createOverrideLimit, ruleEntry } from "./override-limit.js";
import {
  createOverrideOperations,
  forgetOverrides,
  type OverrideAccess,
  ownAccess,
} from "./override-operations.js";
import type { RateLimitOverride, RateLimitOverrides } from "../../types/override-types.js";
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
  return new Overriding(options, store.overrides, age);
}

export class Overriding {
  /** Applies the overrides to a limit that was resolved without them. */
  readonly applied: ReturnType<typeof createOverrideLimit>;
  readonly operations: RateLimitOverrides;
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
  }

  /** The same operations for keys that are resolved in another way, such as stored ones. */
  operationsBy(resolve: OpenOverridesOptions["resolve"]): RateLimitOverrides {
    return createOverrideOperations({ ...this.#options, resolve }, this.#access);
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
    const all = new Map<string, readonly Bucket[]>();
    for (const [name, given] of byName) {
      const made = new Map(given.map((config) => [JSON.stringify(config), config]));
      const seen = new Set<string>();
      const apply = (override: RateLimitOverride, bases: readonly Bucket[]) => {
        const { key, config: own, times } = override;
        const rule = JSON.stringify([key === undefined, own, times]);
        // Many keys have the same rule. Bans and exemptions make no config, and the configs of plans are
        // in `given`.
        if ((own ?? times) === undefined || seen.has(rule)) return;
        seen.add(rule);
        for (const config of bases) {
          const other = workingConfig(this.#options, name, override, config);
          if (other !== undefined) made.set(JSON.stringify(other), other);
        }
      };
      const ofLimit = [...this.#known.ofName(name)];
      for (const override of ofLimit) if (override.key === undefined) apply(override, given);
      // An override `times: 2` of a key also doubles the config that the override of all keys has set.
      const bases = [...made.values()];
      for (const override of ofLimit) if (override.key !== undefined) apply(override, bases);
      all.set(name, [...made.values()]);
    }
    return all;
  }

  /** The stored keys of a limit that are blocked now, in order, and whether all keys are. */
  async blockedKeys(name: string): Promise<{ all: boolean; keys: string[] }> {
    await this.#known.fresh();
    const now = this.#options.clock();
    const blocked = [...this.#known.ofName(name)].filter(
      ({ blocked: is, until = Infinity }) => is === true && now < until,
    );
    const keys = blocked.flatMap(({ key }) => key ?? []);
    return { all: blocked.some(({ key }) => key === undefined), keys: keys.toSorted() };
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

/** `undefined` where a rule and a config do not go together: no call is charged by them. */
function workingConfig(...args: Parameters<typeof ruleEntry>): Bucket | undefined {
  try {
    const entry = ruleEntry(...args);
    return typeof entry === "string" ? undefined : entry;
  } catch {
    return undefined;
  }
}
