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
import { checkedAdd, checkedTimes } from "./override-rule.js";
import type { OverrideRule } from "../../types/override-types.js";
import {
  type KnownOverride,
  type Layers,
  layersAt,
  type OverridesOfLimit,
  PLACES,
  type ResolvedByOverride,
} from "./overrides-by-name.js";

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
    { limit: beneath, given }: ResolvedByOverride,
  ): ResolvedByOverride {
    let found = cache.get(beneath);
    if (found !== undefined) return found;
    const { until, setAt } = override;
    const entry = ruleEntry(options, beneath.name, override, given);
    let limit = beneath;
    if (override.blocked || entry === "none") limit = blocked(beneath, until, setAt);
    else if (override.unlimited || entry === "unlimited") limit = unlimited(beneath);
    else if (entry !== undefined) {
      const { name, key, rows } = beneath;
      const storedKey = rows[0].key === "" ? undefined : rows[0].key;
      limit = resolveLimit(name, key, storedKey, entry, defaults);
      Object.freeze(limit.config);
    }
    const plan = override.plan ?? (override.config === undefined ? beneath.plan : undefined);
    found = { limit: { ...limit, override, plan }, given: bucketOf(entry) };
    cache.set(beneath, found);
    return found;
  }

  return (plain, { plan, config: inline }) => {
    const { name, rows } = plain;
    const found = known.of(name);
    if (found === undefined) return plain;
    const now = clock();
    const ofKey = layersAt(found.byKey.get(rows[0].key), now);
    const ofAll = inline === undefined ? layersAt(found.all, now) : [];
    if (ofKey.length === 0 && ofAll.length === 0) return plain;
    const own = plan === undefined ? configOf(configs, name, inline) : plans.entry(name, plan);
    let made: ResolvedByOverride = { limit: plain, given: bucketOf(own) };
    for (const each of stacked(ofAll, ofKey)) made = resolved(each, made);
    return made.limit;
  };
}

/**
 * The overrides of a limit and a key, each over those before it. What a key may of its own comes before a
 * ban or an exemption of all keys.
 */
function stacked(ofAll: Layers, ofKey: Layers): Layers {
  const at = (layers: Layers, place: string) => layers.filter(({ kind }) => PLACES[kind] === place);
  const own = at(ofKey, "terms");
  const answers = [...(own.length === 0 ? at(ofAll, "answer") : []), ...at(ofKey, "answer")];
  // Of several answers, the last one is given, and the others are as if they were not there.
  return [
    ...at(ofAll, "terms"),
    ...own,
    ...at(ofAll, "add"),
    ...at(ofKey, "add"),
    ...answers.slice(-1),
  ];
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
  if (given === undefined) return undefined;
  if (rule.add !== undefined) return checkedAdd(given, rule.add, name);
  return rule.times === undefined ? given : checkedTimes(given, rule.times, name);
}

function bucketOf(entry: PlanEntry | Bucket | undefined): Bucket | undefined {
  return typeof entry === "string" ? undefined : (entry as Bucket | undefined);
}
