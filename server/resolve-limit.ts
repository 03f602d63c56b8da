/** Resolves a limit's name and perhaps a key to the config and the rows that they stand for. */
import type { RateLimitState } from "../core/calculate.js";
import { floorOf, type RateLimitConfig, shardConfig } from "../core/config.js";
import { describe, RateLimitInputError } from "../core/errors.js";
import { validateKey, validateName } from "../core/validate-key.js";
import { withStart } from "../core/phase.js";
import { validateConfig } from "../core/validate-config.js";
import type { KeyOptions } from "./limiter-types.js";
import { isInRangeOfSql } from "./store/sql-range.js";
import { rowId, type RowId } from "./store/store.js";

/** One limit for one key, resolved and checked. */
export interface ResolvedLimit {
  readonly name: string;
  readonly key: string | undefined;
  /** With `start` filled in. */
  readonly config: RateLimitConfig;
  /** One shard's part of the config; the config itself without shards. */
  readonly part: RateLimitConfig;
  /** The least that a call without `reserve` may leave in a row. */
  readonly floor: number;
  /** Whether a store may carry out a take by itself; see `Decision.plain`. */
  readonly isPlain: boolean;
  /** Whether calls are let through when the store fails. */
  readonly failsOpen: boolean;
  /**
   * The last known state of each shard, by index. It only decides which of two shards is tried
   * first, so it may be old.
   */
  readonly seen: (RateLimitState | undefined)[];
  /** The first of its rows, which is the only one without shards. */
  readonly rows: readonly [RowId];
}

/**
 * The most resolved limits in the cache, of all names together; some 300 bytes each. A key that is
 * used often is then validated, and its row identified, only once.
 */
const MAX_CACHED = 10_000;

/**
 * @returns a function that resolves a name and a key. It throws a `RateLimitInputError` for a name
 * or a key that is not valid, and a `RateLimitConfigError` for such a config.
 */
export function createLimitResolver(configs: ReadonlyMap<string, RateLimitConfig>) {
  const cache = new Map<string, Map<string | undefined, ResolvedLimit>>();
  let count = 0;

  return (name: string, { key, config: inline }: KeyOptions): ResolvedLimit => {
    if (inline !== undefined) {
      const named = configs.get(name);
      if (named === undefined) validateName(name);
      validateConfig(inline);
      return resolveLimit(name, key, withPolicies(inline, named));
    }
    let limit = cache.get(name)?.get(key);
    if (limit !== undefined) return limit;
    const config = configs.get(name);
    if (config === undefined) {
      validateKey(key);
      throw new RateLimitInputError(
        "name",
        `unknown rate limit ${describe(name)}: add it to the limiter's limits, or give the call ` +
          `a config`,
      );
    }
    limit = resolveLimit(name, key, config);
    // Callers can read this object, and later calls with the same key rely on it.
    Object.freeze(limit.config);
    if (++count > MAX_CACHED) {
      cache.clear();
      count = 1;
    }
    const ofName = cache.get(name);
    if (ofName === undefined) cache.set(name, new Map([[key, limit]]));
    else ofName.set(key, limit);
    return limit;
  };
}

/** `shadow` and `whenStoreFails` of the limit, for a call's own config that does not set them. */
function withPolicies(inline: RateLimitConfig, named?: RateLimitConfig): RateLimitConfig {
  const { shadow = named?.shadow, whenStoreFails = named?.whenStoreFails } = inline;
  if (shadow === inline.shadow && whenStoreFails === inline.whenStoreFails) return inline;
  return {
    ...inline,
    ...(shadow !== undefined && { shadow }),
    ...(whenStoreFails !== undefined && { whenStoreFails }),
  };
}

function resolveLimit(
  name: string,
  key: string | undefined,
  given: RateLimitConfig,
): ResolvedLimit {
  validateKey(key);
  // Clients get the config. It must not tell attackers that an outage opens the limit.
  const { whenStoreFails, ...shown } = withStart(given, name, key);
  const config: RateLimitConfig = shown;
  const part = shardConfig(config);
  return {
    name,
    key,
    config,
    part,
    floor: floorOf(part, false),
    isPlain: isInRangeOfSql(part),
    failsOpen: whenStoreFails === "allow",
    seen: [],
    rows: [rowId(name, key ?? "", 0, part)],
  };
}

export function rowOf({ name, key, part, rows }: ResolvedLimit, shard: number): RowId {
  return shard === 0 ? rows[0] : rowId(name, key ?? "", shard, part);
}

export function allRows(limit: ResolvedLimit): RowId[] {
  return Array.from({ length: limit.config.shards ?? 1 }, (_, shard) => rowOf(limit, shard));
}
