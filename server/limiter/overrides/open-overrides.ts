/** Overrides of one limiter: what its operations need of them, in one place. */
import type { RateLimitConfig } from "../../../core/config.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import type { ChangeChannel } from "../../changes/change-channel.js";
import type { KeyOptions } from "../call-options.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import { unsupported } from "../unsupported.js";
import type { RateLimitLogger } from "../../report/logger.js";
import type { Call, RateLimitStore } from "../../store/store.js";
import { KnownOverrides } from "./known-overrides.js";
import { createOverrideLimit, ruleConfig } from "./override-limit.js";
import { createOverrideOperations, forgetOverrides } from "./override-operations.js";
import type { RateLimitOverride } from "./override-types.js";

/** How old the table of overrides may be, ms. */
const DEFAULT_OVERRIDES_FOR = 10_000;

export interface OpenOverridesOptions {
  store: RateLimitStore;
  configs: ReadonlyMap<string, RateLimitConfig>;
  clock(): number;
  rememberDenials: number;
  channel: ChangeChannel | undefined;
  logger: RateLimitLogger;
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
  published(): void;
}

export type Overriding = NonNullable<ReturnType<typeof openOverrides>>;

/**
 * @returns `undefined` for a limiter without overrides. It then reads no table, and no call does more.
 * @throws RateLimitConfigError when an option cannot work, or the store has no such table.
 */
export function openOverrides(
  { overrides = false, overridesFor }: { overrides?: unknown; overridesFor?: unknown },
  options: OpenOverridesOptions,
) {
  validate(overrides, overridesFor);
  if (overrides === false) return undefined;
  const { store, configs, resolve, bound, published } = options;
  const { overrides: table } = store;
  if (table === undefined) throw unsupported(store, "overrides");
  const age = (overridesFor as number | undefined) ?? DEFAULT_OVERRIDES_FOR;
  const known = new KnownOverrides({ ...options, table, overridesFor: age });
  const applied = createOverrideLimit({ ...options, known });

  /** Whether a call passes when the store fails: all of its limits say so, or one of those in line. */
  function opens(operation: string, [of]: readonly unknown[]): boolean {
    const items: readonly unknown[] = Array.isArray(of) ? of : [of];
    const open = items.map((item) => isOpen(configs.get(nameOf(item))));
    return operation === "limitFirst"
      ? open.includes(true)
      : open.length > 0 && !open.includes(false);
  }

  return {
    operations: createOverrideOperations({ ...options, table, known }),
    applied,
    resolve: (name: string, of: KeyOptions) => applied(resolve(name, of), of.config),

    /** What a transaction that begins now has to wait for: it may hold the only connection. */
    fresh: () => known.fresh(),

    /**
     * Operations that wait until the table is known.
     *
     * @param tx the transaction in which they are called.
     */
    gated<TOperations extends object>(
      operations: TOperations,
      mayFailOpen: boolean,
      tx?: unknown,
    ): TOperations {
      const readWithin =
        tx === undefined || table.readWithin === undefined
          ? undefined
          : () => table.readWithin!(tx);
      const gated = Object.entries(operations).map(([name, run]) => {
        const call = run as (...args: unknown[]) => unknown;
        const waiting = (...args: unknown[]) => {
          const fresh = known.fresh(readWithin);
          if (fresh === undefined) return call(...args);
          return fresh.then(
            () => call(...args),
            (error: unknown) => {
              if (!mayFailOpen || !opens(name, args) || !isOutage(error)) throw error;
              return call(...args);
            },
          );
        };
        return [name, waiting];
      });
      return Object.fromEntries(gated) as TOperations;
    },

    /** The configs of a limit, and those that overrides make of them: rows must be full under all. */
    async allConfigs(
      byName: ReadonlyMap<string, readonly RateLimitConfig[]>,
    ): Promise<Map<string, readonly RateLimitConfig[]>> {
      await known.fresh();
      const all = new Map<string, readonly RateLimitConfig[]>();
      for (const [name, given] of byName) {
        const made = new Map(given.map((config) => [JSON.stringify(config), config]));
        const apply = (override: RateLimitOverride, bases: readonly RateLimitConfig[]) => {
          for (const config of bases) {
            const other = workingConfig(configs, name, override, config);
            if (other !== undefined) made.set(JSON.stringify(other), other);
          }
        };
        const ofLimit = [...known.ofName(name)];
        for (const override of ofLimit) if (override.key === undefined) apply(override, given);
        // What a key has so many times, it has of the override of all keys, too.
        const bases = [...made.values()];
        for (const override of ofLimit) if (override.key !== undefined) apply(override, bases);
        all.set(name, [...made.values()]);
      }
      return all;
    },

    /** The stored keys of a limit that are blocked now, in order, and whether all keys are. */
    async blockedKeys(name: string): Promise<{ all: boolean; keys: string[] }> {
      await known.fresh();
      const now = options.clock();
      const blocked = [...known.ofName(name)].filter(
        ({ blocked: is, until = Infinity }) => is === true && now < until,
      );
      const keys = blocked.flatMap(({ key }) => key ?? []);
      return { all: blocked.some(({ key }) => key === undefined), keys: keys.toSorted() };
    },

    forget: (storedKey: string) => forgetOverrides({ table, known, bound, published }, storedKey),
    removeEnded: (before: number) => bound((call) => table.removeEnded(before, call)),
  };
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

function nameOf(item: unknown): string {
  if (typeof item === "string") return item;
  return String((Object(item) as { name?: unknown }).name);
}

/** `undefined` where a rule and a config do not go together: no call is charged by them. */
function workingConfig(...args: Parameters<typeof ruleConfig>): RateLimitConfig | undefined {
  try {
    return ruleConfig(...args);
  } catch {
    return undefined;
  }
}

function isOpen(config: RateLimitConfig | undefined): boolean {
  return config?.whenStoreFails === "allow";
}

/** Only an outage opens a limit, see `RateLimitStoreError.isOutage`. */
function isOutage(error: unknown): boolean {
  const { name, isOutage: flag } = Object(error) as { name?: unknown; isOutage?: unknown };
  return name === "RateLimitStoreError" && flag !== false;
}
