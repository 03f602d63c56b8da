/** Resolves the name that a call gives, and perhaps its key, plan or config, to a limit. Keeps the result. */
import type { Bucket } from "../../../core/config.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import type { KeyOptions, PlanOptions } from "../types/call.js";
import { LimitCache } from "./limit-cache.js";
import { blocked, unlimited } from "./overrides/answered-limit.js";
import type { PlanEntry, PlanTable } from "./plans/plan-table.js";
import {
  configOf,
  type LimitDefaults,
  type ResolvedLimit,
  resolveLimit,
} from "./resolved-limit.js";

/**
 * The heap that a resolved limit takes, bytes: with a long key, and beside that for each shard in `seen`.
 */
const BYTES = 1600;
const BYTES_PER_SHARD = 50;

/**
 * @param toStoredKey what `createStoredKey` returned.
 * @returns a function that resolves a name and a key. The function throws a `RateLimitInputError` for a
 * name or a key that is not valid, and a `RateLimitConfigError` for a config that is not valid.
 */
export function createLimitResolver(
  configs: ReadonlyMap<string, Bucket>,
  plans: PlanTable,
  toStoredKey: (key: string | undefined) => string | undefined,
  defaults: LimitDefaults,
) {
  // A key that is used often is validated, and its row identified, only once.
  const cache = new LimitCache<ResolvedLimit>();

  return (
    name: string,
    options: KeyOptions & PlanOptions,
    needsPlan: boolean = true,
  ): ResolvedLimit => {
    const { key, config: inline, plan } = options;
    if (key === undefined && "key" in options) throw missingKey("bucket");
    if (inline !== undefined) {
      if (plan !== undefined) throw planAndConfig(name, plan);
      const config = configOf(configs, name, inline);
      return resolveLimit(name, key, toStoredKey(key), config, defaults);
    }
    const id = plans.idOf(name, plan, needsPlan);
    let limit = cache.get(id, key);
    if (limit !== undefined) return limit;
    const own = configOf(configs, name, undefined);
    const stored = toStoredKey(key);
    limit =
      plan === undefined
        ? resolveLimit(name, key, stored, own, defaults)
        : ofPlan(name, key, stored, own, defaults, plan, plans.entry(name, plan));
    // Frozen, because callers can read this object, and later calls with the same key rely on it.
    Object.freeze(limit.config);
    const { shards = 1 } = limit.config;
    cache.set(id, key, limit, BYTES + (shards > 1 ? shards * BYTES_PER_SHARD : 0));
    return limit;
  };
}

/** The limit of a plan. */
export function ofPlan(
  name: string,
  key: string | undefined,
  storedKey: string | undefined,
  own: Bucket,
  defaults: LimitDefaults | undefined,
  plan: string,
  entry: PlanEntry,
): ResolvedLimit {
  if (typeof entry !== "string") {
    return resolveLimit(name, key, storedKey, entry as Bucket, defaults, plan);
  }
  const beneath = resolveLimit(name, key, storedKey, own, defaults, plan);
  return entry === "none" ? blocked(beneath, undefined, 0) : unlimited(beneath);
}

function planAndConfig(name: string, plan: string): RateLimitConfigError {
  const message = `a call on ${describe(name)} has a plan or a config, got both; a config is for what is no plan`;
  return new RateLimitConfigError("plan", plan, { message });
}

/** The error of `{ key: user?.id }` without a user: every visitor without a user would share one bucket. */
export function missingKey(shared: "bucket" | "slots"): RateLimitInputError {
  const message =
    `key must not be undefined: leave it out for the ${shared} that all callers share, ` +
    "and give visitors without a user another key, such as ipKey(address)";
  return new RateLimitInputError("key", message);
}
