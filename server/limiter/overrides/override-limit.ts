/** Applies overrides to a limit that was resolved without them. */
import { capacityOf, longestPeriod, type Bucket } from "../../../core/config.js";
import { configOf, type ResolvedLimit, resolveLimit } from "../resolve-limit.js";
import { rowId } from "../../store/store.js";
import type { FixedRow } from "../answers/overridden.js";
import { checkedTimes } from "./override-rule.js";
import type { OverrideRule } from "./override-types.js";
import type { KnownOverride, OverridesOfLimit } from "./overrides-by-name.js";

export interface OverrideLimitOptions {
  /** The overrides of a limit; `undefined` if it has none, or has not had one for a while. */
  known: { of(name: string): OverridesOfLimit | undefined };
  configs: ReadonlyMap<string, Bucket>;
  clock(): number;
  /** Of limits that do not set it, ms. */
  rememberDenials: number;
}

/**
 * @returns a function that applies the overrides in force. The one of the key comes before the call's
 * own config, and that one before the override of all keys.
 */
export function createOverrideLimit({
  known,
  configs,
  clock,
  rememberDenials,
}: OverrideLimitOptions): (plain: ResolvedLimit, inline: Bucket | undefined) => ResolvedLimit {
  function resolved(
    { override, resolved: cache }: KnownOverride,
    beneath: ResolvedLimit,
    given: Bucket,
  ): ResolvedLimit {
    let limit = cache.get(beneath);
    if (limit !== undefined) return limit;
    if (override.blocked) limit = blocked(beneath, override.until, override.setAt);
    else if (override.unlimited) limit = unlimited(beneath);
    else {
      const { name, key, rows } = beneath;
      const config = ruleConfig(configs, name, override, given);
      const storedKey = rows[0].key === "" ? undefined : rows[0].key;
      limit = resolveLimit(name, key, storedKey, config, rememberDenials);
      Object.freeze(limit.config);
    }
    limit = { ...limit, override };
    cache.set(beneath, limit);
    return limit;
  }

  return (plain, inline) => {
    const { name, rows } = plain;
    const found = known.of(name);
    if (found === undefined) return plain;
    const now = clock();
    const key = inForce(found.byKey.get(rows[0].key), now);
    const all = inline === undefined ? inForce(found.all, now) : undefined;
    if (key === undefined && all === undefined) return plain;
    let given = configOf(configs, name, inline);
    // What a key has so many times, it has of the override of all keys.
    const isBase = all !== undefined && (key === undefined || hasConfig(all.override));
    const base = isBase ? resolved(all, plain, given) : plain;
    if (key === undefined) return base;
    if (isBase) given = ruleConfig(configs, name, all.override, given);
    return resolved(key, base, given);
  };
}

/**
 * The config that a rule makes of the one that counts without it.
 *
 * @throws RateLimitConfigError where that cannot work.
 */
export function ruleConfig(
  configs: ReadonlyMap<string, Bucket>,
  name: string,
  rule: OverrideRule,
  given: Bucket,
): Bucket {
  if (rule.config !== undefined) return configOf(configs, name, rule.config);
  return rule.times === undefined ? given : checkedTimes(given, rule.times, name);
}

function inForce(known: KnownOverride | undefined, now: number): KnownOverride | undefined {
  const { until = Infinity } = known?.override ?? {};
  return now < until ? known : undefined;
}

function hasConfig({ config, times }: OverrideRule): boolean {
  return config !== undefined || times !== undefined;
}

/** A limit without rows in the store. */
function withoutRows(
  beneath: ResolvedLimit,
  config: Bucket,
  held: FixedRow["held"],
): Omit<ResolvedLimit, "answer"> {
  const { name, rows } = beneath;
  // No row of a limit has such a shard, so nothing takes it for one.
  const row: FixedRow = { ...rowId(name, rows[0].key, -1, config), held };
  return {
    ...beneath,
    config: Object.freeze(config),
    part: config,
    floor: 0,
    isPlain: false,
    failsOpen: false,
    rememberFor: 0,
    via: "row",
    counted: undefined,
    held: undefined,
    lease: undefined,
    seen: [],
    rows: [row],
  };
}

/** A page shows it as it shows a shadow: full, and never withheld. */
function unlimited(beneath: ResolvedLimit): ResolvedLimit {
  const { shards: _, blockFor: __, afterBlock: ___, ...whole } = beneath.config;
  const config = { ...whole, shadow: true } as Bucket;
  const answer = { kind: "unlimited", until: undefined, beneath } as const;
  return { ...withoutRows(beneath, config, null), answer };
}

/** A page sees a bucket that is empty, and that a window fills when the override ends. */
function blocked(beneath: ResolvedLimit, until: number | undefined, setAt: number): ResolvedLimit {
  const capacity = capacityOf(beneath.config);
  const config: Bucket = {
    kind: "fixed window",
    // A page takes no rate of 0, as credits have it.
    rate: capacity || beneath.config.rate || 1,
    // `starts` stand in for it. A page needs a number all the same.
    period: longestPeriod(beneath.config),
    capacity,
    maxReserved: 0,
    starts: until === undefined ? [] : [until],
  };
  const answer = { kind: "blocked", until, beneath } as const;
  return { ...withoutRows(beneath, config, { value: 0, ts: setAt }), answer };
}
