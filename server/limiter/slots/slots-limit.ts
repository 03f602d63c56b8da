/** Resolves the name of a limit of slots and perhaps a key to the rows of its slots and of its line. */
import type { Row } from "../../../core/rows/row.js";
import type { Bucket } from "../../../core/config.js";
import type { ConcurrencyConfig, FixedWindowConfig } from "../../../core/limit-config.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { MAX_SEATS, seatBucket, SEATS, seatTtlOf } from "../../../core/rows/seat.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { slotBucket, slotsConfig, ttlOf } from "../../../core/rows/slot.js";
import { validateConfig } from "../../../core/validate-config.js";
import { rowId, type RowId } from "../../store/store.js";
import { LimitCache } from "../limits/limit-cache.js";
import { missingKey } from "../limits/limit-resolver.js";
import type { PlanTable } from "../limits/plans/plan-table.js";

/** The slots of one limit for one key, resolved and checked. */
export interface SlotsLimit {
  readonly name: string;
  /** The key as the caller gave it. The rows may have another key; see `hashKey`. */
  readonly key: string | undefined;
  /** The config that a denial shows. */
  readonly config: FixedWindowConfig & { period: number };
  readonly slots: ConcurrencyConfig;
  /** ms. */
  readonly ttl: number;
  /** One slot as a bucket. */
  readonly bucket: Bucket & { period: number };
  /** One row per slot that the caller may enter. */
  readonly rows: readonly RowId[];
  /**
   * The same rows, and those that only a larger plan of the limit may enter: a slot that is held there
   * counts, too.
   */
  readonly counted: readonly RowId[];
  /**
   * Makes one row per seat of the line. The seats take 100 times as much of the heap as one slot, so no
   * limit keeps them.
   */
  seats(): readonly RowId[];
  /** How long a caller in line may be silent before its seat is free, ms. */
  readonly seatTtl: number;
  /** The last known state of each slot. The state only decides which slot is tried first. */
  readonly seen: (Row | null | undefined)[];
}

/** The heap that a resolved limit takes, bytes: with a long key, and beside that for each slot. */
const BYTES = 2000;
const BYTES_PER_SLOT = 400;

export interface OfSlots {
  key?: string | undefined;
  plan?: string | undefined;
  config?: unknown;
}

export type ResolveSlots = ReturnType<typeof createSlotsResolver>;

/** @returns a function that throws as the resolver of other limits does. */
export function createSlotsResolver(
  configs: ReadonlyMap<string, ConcurrencyConfig>,
  plans: PlanTable,
  toStoredKey: (key: string | undefined) => string | undefined,
  isStrict: boolean = true,
) {
  const cache = new LimitCache<SlotsLimit>();

  return (name: string, options: OfSlots, needsPlan: boolean = isStrict): SlotsLimit => {
    const { key, plan, config: inline } = options;
    const own = configs.get(name);
    if (own === undefined) throw noSlots(name);
    if (key === undefined && "key" in options) throw missingKey("slots");
    if (inline !== undefined) {
      const given = inline as ConcurrencyConfig;
      validateConfig(given);
      if (given.kind === "concurrency")
        return resolve(name, key, toStoredKey(key), given, own.slots);
      const problem = `a config of kind "concurrency", because ${describe(name)} is one`;
      throw new RateLimitConfigError("config", given, problem);
    }
    const id = plans.idOf(name, plan, needsPlan);
    const known = cache.get(id, key);
    if (known !== undefined) return known;
    const config = plan === undefined ? own : (plans.entry(name, plan) as ConcurrencyConfig);
    const limit = resolve(name, key, toStoredKey(key), config, own.slots);
    cache.set(id, key, limit, BYTES + limit.counted.length * BYTES_PER_SLOT);
    return limit;
  };
}

/**
 * @param storedKey the key of the limit's rows.
 * @param most the slots of the largest plan of the limit.
 */
export function resolve(
  name: string,
  key: string | undefined,
  storedKey: string | undefined,
  config: ConcurrencyConfig,
  most: number = config.slots,
): SlotsLimit {
  const bucket = slotBucket(config);
  const ttl = ttlOf(config);
  const rowsOf = (rowName: string, count: number, of: Bucket) =>
    Array.from({ length: count }, (_, shard) => rowId(rowName, storedKey ?? "", shard, of));
  const counted = rowsOf(name, Math.max(most, config.slots), bucket);
  return {
    name,
    key,
    config: slotsConfig(config, []),
    slots: config,
    ttl,
    bucket,
    rows: counted.slice(0, config.slots),
    counted,
    seats: () => rowsOf(sideName(SEATS, name), MAX_SEATS, seatBucket(config)),
    seatTtl: seatTtlOf(ttl),
    seen: [],
  };
}

/** The error of a call that wants a slot of a limit without slots. */
export function noSlots(name: string): RateLimitInputError {
  const message =
    `enter() needs the name of a limit of kind "concurrency", got ${describe(name)}; ` +
    "add it to the limiter's limits";
  return new RateLimitInputError("name", message);
}
