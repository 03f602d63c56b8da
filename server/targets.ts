/** From what callers name, a limit and perhaps a key, to the config and the rows it stands for. */
import {
  capacityOf,
  type RateLimitConfig,
  reservableOf,
  shardConfig,
  validateConfig,
} from "../core/config.js";
import { describe, RateLimitInputError } from "../core/errors.js";
import { validateKey, validateName } from "../core/key.js";
import { withStart } from "../core/phase.js";
import type { KeyOptions } from "./limiter-types.js";
import { rowId, type RowId } from "./store/store.js";

/** One limit for one key, resolved and checked. */
export interface Target {
  readonly name: string;
  readonly key: string | undefined;
  /** With `start` filled in. */
  readonly config: RateLimitConfig;
  /** One shard's part of it; the same where there is only one. */
  readonly part: RateLimitConfig;
  /** Whether a store may carry out a take by itself; see `Decision.plain`. */
  readonly isPlain: boolean;
  /** The first of its rows, which is the only one without shards. */
  readonly rows: readonly [RowId];
}

/**
 * The most targets remembered, of all limits together; some 300 bytes each. Who calls often is then
 * not checked, and its row not named, anew each time.
 */
const REMEMBERED = 10_000;

/** @returns what resolves a name and a key. Throws a `RateLimitInputError` for those it cannot. */
export function createTargets(configs: ReadonlyMap<string, RateLimitConfig>) {
  const remembered = new Map<string, Map<string | undefined, Target>>();
  let count = 0;

  return (name: string, { key, config: inline }: KeyOptions): Target => {
    if (inline !== undefined) {
      if (!configs.has(name)) validateName(name);
      validateConfig(inline);
      return targetOf(name, key, inline);
    }
    let target = remembered.get(name)?.get(key);
    if (target !== undefined) return target;
    const config = configs.get(name);
    if (config === undefined) {
      validateKey(key);
      throw new RateLimitInputError(
        "name",
        `unknown rate limit ${describe(name)}: it is not among the limiter's limits, and the ` +
          `call has no config`,
      );
    }
    target = targetOf(name, key, config);
    // Callers get to see it, and those who come later go by it.
    Object.freeze(target.config);
    if (++count > REMEMBERED) {
      remembered.clear();
      count = 1;
    }
    const targets = remembered.get(name);
    if (targets === undefined) remembered.set(name, new Map([[key, target]]));
    else targets.set(key, target);
    return target;
  };
}

function targetOf(name: string, key: string | undefined, given: RateLimitConfig): Target {
  validateKey(key);
  const config = withStart(given, name, key);
  const part = shardConfig(config);
  const isPlain = (config.shards ?? 1) === 1 && inRangeOfSql(part);
  return { name, key, config, part, isPlain, rows: [rowId(name, key ?? "", 0)] };
}

/**
 * Whether the formula of a take stays clear of overflow and underflow. Databases raise an error
 * there, and JavaScript goes on with `Infinity` or 0.
 */
function inRangeOfSql(config: RateLimitConfig): boolean {
  const { rate } = config;
  return rate >= 2 ** -64 && Math.max(rate, capacityOf(config), reservableOf(config)) <= 2 ** 128;
}

export function rowOf({ name, key, rows }: Target, shard: number): RowId {
  return shard === 0 ? rows[0] : rowId(name, key ?? "", shard);
}

export function allRows(target: Target): RowId[] {
  return Array.from({ length: target.config.shards ?? 1 }, (_, shard) => rowOf(target, shard));
}
