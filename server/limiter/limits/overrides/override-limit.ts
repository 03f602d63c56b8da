/** Applies overrides to a limit that was resolved without them. */
import type { Bucket } from "../../../../core/config.js";
import type { RateLimitConfig } from "../../../../core/limit-config.js";
import type { PlanEntry, PlanTable } from "../plans/plan-table.js";
import {
  configOf,
  type LimitDefaults,
  type ResolvedLimit,
  resolveLimit,
} from "../resolved-limit.js";
import { blocked, unlimited } from "./answered-limit.js";
import { checkedTimes } from "./override-rule.js";
import type { OverrideRule } from "../../types/override-types.js";
import type { KnownOverride, OverridesOfLimit } from "./overrides-by-name.js";

export interface OverrideLimitOptions {
  /** The overrides of a limit; `undefined` if the limit has none. */
  known: { of(name: string): OverridesOfLimit | undefined };
  configs: ReadonlyMap<string, Bucket>;
  plans: PlanTable;
  clock(): number;
  defaults: LimitDefaults;
}

/** The plan or the config that a call says. */
export interface AppliedTo {
  plan?: string | undefined;
  config?: Bucket | RateLimitConfig | undefined;
}

/**
 * @returns a function that applies the overrides in force. The override of the key comes before the
 * call's own config, and the call's own config before the override of all keys.
 */
export function createOverrideLimit(
  options: OverrideLimitOptions,
): (plain: ResolvedLimit, of: AppliedTo) => ResolvedLimit {
  const { known, configs, plans, clock, defaults } = options;

  function resolved(
    { override, resolved: cache }: KnownOverride,
    beneath: ResolvedLimit,
    given: Bucket | undefined,
  ): ResolvedLimit {
    let limit = cache.get(beneath);
    if (limit !== undefined) return limit;
    const { until, setAt } = override;
    const entry = ruleEntry(options, beneath.name, override, given);
    const plan = override.plan ?? (override.config === undefined ? beneath.plan : undefined);
    if (override.blocked || entry === "none") limit = blocked(beneath, until, setAt);
    else if (override.unlimited || entry === "unlimited") limit = unlimited(beneath);
    else if (entry === undefined) limit = beneath;
    else {
      const { name, key, rows } = beneath;
      const storedKey = rows[0].key === "" ? undefined : rows[0].key;
      limit = resolveLimit(name, key, storedKey, entry, defaults);
      Object.freeze(limit.config);
    }
    limit = { ...limit, override, plan };
    cache.set(beneath, limit);
    return limit;
  }

  return (plain, { plan, config: inline }) => {
    const { name, rows } = plain;
    const found = known.of(name);
    if (found === undefined) return plain;
    const now = clock();
    const key = inForce(found.byKey.get(rows[0].key), now);
    const all = inline === undefined ? inForce(found.all, now) : undefined;
    if (key === undefined && all === undefined) return plain;
    const own = plan === undefined ? configOf(configs, name, inline) : plans.entry(name, plan);
    let given = bucketOf(own);
    // `times` of a key's override multiplies the config that the override of all keys makes.
    const isBase = all !== undefined && (key === undefined || hasConfig(all.override));
    const base = isBase ? resolved(all, plain, given) : plain;
    if (key === undefined) return base;
    if (isBase) given = bucketOf(ruleEntry(options, name, all.override, given));
    return resolved(key, base, given);
  };
}

/**
 * The config, or the answer, that a rule makes of the config that counts without the rule.
 *
 * @param given `undefined` for a plan that has no config: `"unlimited"` or `"none"`.
 * @throws RateLimitConfigError where the config cannot work.
 */
export function ruleEntry(
  { configs, plans }: Pick<OverrideLimitOptions, "configs" | "plans">,
  name: string,
  rule: OverrideRule,
  given: Bucket | undefined,
): Bucket | "unlimited" | "none" | undefined {
  if (rule.plan !== undefined) return plans.entry(name, rule.plan) as Bucket | "unlimited" | "none";
  if (rule.config !== undefined) return configOf(configs, name, rule.config);
  if (rule.times === undefined || given === undefined) return given;
  return checkedTimes(given, rule.times, name);
}

function bucketOf(entry: PlanEntry | Bucket | undefined): Bucket | undefined {
  return typeof entry === "string" ? undefined : (entry as Bucket | undefined);
}

function inForce(known: KnownOverride | undefined, now: number): KnownOverride | undefined {
  const { until = Infinity } = known?.override ?? {};
  return now < until ? known : undefined;
}

function hasConfig({ plan, config, times }: OverrideRule): boolean {
  return plan !== undefined || config !== undefined || times !== undefined;
}
