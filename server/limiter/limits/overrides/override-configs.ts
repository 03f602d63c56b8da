/** The configs by which the overrides of a limit may charge its rows. */
import type { Bucket } from "../../../../core/config.js";
import { type OverrideLimitOptions, ruleEntry } from "./override-limit.js";
import type { OverrideRule, RateLimitOverride } from "../../types/override-types.js";

type Configs = ReadonlyMap<string, Bucket>;

/**
 * @param given the configs without overrides.
 * @param overrides those of a key in the order in which they lie over each other.
 * @returns these configs, and those that the overrides make of them.
 */
export function configsUnder(
  options: Pick<OverrideLimitOptions, "configs" | "plans">,
  name: string,
  given: readonly Bucket[],
  overrides: readonly RateLimitOverride[],
): readonly Bucket[] {
  /** With any of the rules ended, because each ends by itself. */
  const under = (bases: Configs, rules: readonly OverrideRule[]): Configs => {
    const made = new Map(bases);
    for (const rule of rules) {
      const before = [...made.values()];
      for (const config of before) {
        const other = workingConfig(options, name, rule, config);
        if (other !== undefined) made.set(JSON.stringify(other), other);
      }
    }
    return made;
  };
  const { ofAll, ofKeys, add } = rulesOf(overrides);
  // An override `times: 2` of a key also doubles the config that the override of all keys has set.
  const bases = under(new Map(given.map((config) => [JSON.stringify(config), config])), ofAll);
  const made = new Map(bases);
  // No key has the rules of another one. All of them together would make 2 ** keys configs.
  for (const rules of ofKeys) for (const [id, config] of under(bases, rules)) made.set(id, config);
  return [...under(made, add > 0 ? [{ add }] : []).values()];
}

/** The rules that make a config: of all keys, of each key that has others, and the most that is added. */
function rulesOf(overrides: readonly RateLimitOverride[]) {
  const byKey = new Map<string | undefined, OverrideRule[]>();
  // A row that is full with more room is full with less.
  let [addAll, addKey] = [0, 0];
  for (const { key, config, times, add = 0 } of overrides) {
    if (key === undefined) addAll = Math.max(addAll, add);
    else addKey = Math.max(addKey, add);
    // Bans and exemptions make no config, and the configs of plans are in `given`.
    const rule = config ? { config } : times === undefined ? undefined : { times };
    if (rule) byKey.set(key, [...(byKey.get(key) ?? []), rule]);
  }
  const ofAll = byKey.get(undefined) ?? [];
  byKey.delete(undefined);
  // Many keys have the same rules.
  const ofKeys = new Map([...byKey.values()].map((rules) => [JSON.stringify(rules), rules]));
  return { ofAll, ofKeys: ofKeys.values(), add: addAll + addKey };
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
