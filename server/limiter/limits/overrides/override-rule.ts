/**
 * The rule of an override, in the table and in memory, and the config that the rule makes of another
 * config.
 */
import { capacityOf, type Bucket, isNever, MAX_RETRY_AFTER } from "../../../../core/config.js";
import { usedShards } from "../../../../core/count.js";
import { kindOf, OVERRIDE_KINDS } from "../../../../core/override-kinds.js";
import { isCredits } from "../../../../core/rows/credits.js";
import { describe, RateLimitConfigError } from "../../../../core/errors.js";
import { validateConfig } from "../../../../core/validate-config.js";
import { MAX_RULE, type OverrideRow } from "../../../store/override-table.js";
import type { PlanTable } from "../plans/plan-table.js";
import type { OverrideKind, OverrideRule, RateLimitOverride } from "../../types/override-types.js";
import { limitNameOf } from "./override-row.js";

/**
 * @param own the config of the limit `name`.
 * @throws RateLimitConfigError quoting the option that cannot work.
 */
export function validateRule(
  given: object,
  own: Bucket,
  name: string,
  plans: PlanTable,
): OverrideRule {
  const options = given as Record<string, unknown>;
  const set = OVERRIDE_KINDS.filter((kind) => options[kind] !== undefined);
  const [kind] = set;
  if (kind === undefined || set.length > 1) {
    const message =
      `overrides.set() needs exactly one of ${OVERRIDE_KINDS.join(", ")}, got ` +
      (set.length === 0 ? "none of them" : set.join(" and "));
    throw new RateLimitConfigError(set[1] ?? "config", options[set[1] ?? "config"], { message });
  }
  const rule = { [kind]: options[kind] } as unknown as OverrideRule;
  if (rule.plan !== undefined) {
    plans.entry(name, rule.plan);
  } else if (rule.config !== undefined) {
    validateConfig(rule.config);
    // A missing row is a balance of 0 for credits, and a full bucket for other kinds.
    if (isCredits(rule.config) !== isCredits(own)) {
      const problem = isCredits(own)
        ? '"credits": this limit is a balance of credits'
        : 'another kind than "credits": this limit is no balance of credits';
      throw new RateLimitConfigError("config.kind", rule.config.kind, problem);
    }
  } else if (rule.times !== undefined) {
    if (!(Number.isFinite(rule.times) && rule.times > 0)) {
      throw new RateLimitConfigError("times", rule.times, "a finite number above 0");
    }
    checkedTimes(own, rule.times, name);
  } else if (rule.add !== undefined) {
    if (!(Number.isFinite(rule.add) && rule.add > 0)) {
      throw new RateLimitConfigError("add", rule.add, "a finite number above 0");
    }
    if (isCredits(own)) {
      const problem = "left out for a balance of credits, to which limiter.credit() adds";
      throw new RateLimitConfigError("add", rule.add, problem);
    }
    checkedAdd(own, rule.add, name);
  } else if (options[kind] !== true) {
    throw new RateLimitConfigError(kind, options[kind], "true, or left out");
  }
  const { length } = ruleText(rule);
  if (length <= MAX_RULE) return rule;
  const message = `config is too long for the table: ${length} characters of JSON, at most ${MAX_RULE}`;
  throw new RateLimitConfigError("config", rule.config, { message });
}

/**
 * The config of `timesConfig`, validated. A rule is checked against the limit's own config when the rule
 * is set. Later the rule meets other configs: those of calls, of the override of all keys, and of a newer
 * version of the limit.
 *
 * @throws RateLimitConfigError where the result cannot work. The call then fails, because without the
 * override it could get more than it should.
 */
export function checkedTimes(given: Bucket, times: number, name: string): Bucket {
  return checked("times", times, name, () => {
    const config = timesConfig(given, times);
    // A small rate may be rounded to 0.
    if (!isCredits(given) && config.rate === 0) throw new RangeError("its rate would be 0");
    return config;
  });
}

/**
 * A config with so many tokens more, at the same rate: its bucket holds what both may, and refills as
 * before. So a key gets these tokens once, and at most once more for what it leaves unused later.
 *
 * @throws RateLimitConfigError as {@link checkedTimes}.
 */
export function checkedAdd(given: Bucket, add: number, name: string): Bucket {
  return checked("add", add, name, () => ({ ...given, capacity: capacityOf(given) + add }));
}

function checked(option: "times" | "add", value: number, name: string, make: () => Bucket): Bucket {
  try {
    const config = make();
    validateConfig(config);
    return config;
  } catch (error) {
    const message =
      `${option} ${describe(value)} makes a config of "${name}" that cannot work: ` +
      (error as Error).message;
    throw new RateLimitConfigError(option, value, { message });
  }
}

/** @throws RateLimitConfigError for a value that is no instant, and for an instant that has passed. */
export function validateUntil(until: unknown, now: number): void {
  if (until === undefined) return;
  if (!Number.isFinite(until)) {
    throw new RateLimitConfigError("until", until, "an instant, epoch ms");
  }
  if ((until as number) > now) return;
  const message = `until must be still to come, epoch ms: it is ${now} now, got ${describe(until)}`;
  throw new RateLimitConfigError("until", until, { message });
}

/**
 * Multiplies the rate and the capacity of a config. A bucket that had room for one token keeps that room:
 * a call that could never be granted is an error of its caller, and not a denial. A call sees two shards
 * at most, so two shards together keep the room.
 */
export function timesConfig(config: Bucket, times: number): Bucket {
  const { rate, capacity, maxReserved, shards = 1 } = config;
  const own = capacityOf(config);
  const least = Math.min(shards / usedShards(config), own);
  const isLess = own * times < least;
  return {
    ...config,
    rate: rate * times,
    ...((isLess || capacity !== undefined) && { capacity: Math.max(least, own * times) }),
    ...(maxReserved !== undefined && { maxReserved: maxReserved * times }),
  };
}

export function ruleText(rule: OverrideRule): string {
  return JSON.stringify(rule);
}

/** The override of a row of the table; `undefined` for a row that another version has written. */
export function overrideOf(row: OverrideRow): RateLimitOverride | undefined {
  const { key, until, setAt } = row;
  const rule = ruleOf(row.rule);
  if (rule === undefined || !Number.isFinite(until)) return undefined;
  return {
    ...rule,
    name: limitNameOf(row),
    key: key === "" ? undefined : key,
    until: isNever(until) ? undefined : until,
    setAt,
  };
}

function ruleOf(text: string): OverrideRule | undefined {
  try {
    const rule = JSON.parse(text) as OverrideRule;
    const kinds = OVERRIDE_KINDS.filter((kind) => rule[kind] !== undefined);
    if (kinds.length !== 1) return undefined;
    if (rule.config !== undefined) validateConfig(rule.config);
    else if (rule.plan !== undefined && typeof rule.plan !== "string") return undefined;
    const number = rule.times ?? rule.add;
    if (number !== undefined && !(Number.isFinite(number) && number > 0)) return undefined;
    return rule;
  } catch {
    return undefined;
  }
}

/** The kind of the override of a row; `undefined` for a row that another version has written. */
export function kindOfRow(row: OverrideRow): OverrideKind | undefined {
  const override = overrideOf(row);
  return override && kindOf(override);
}

/** Whole ms until an override ends; the longest wait where it does not. */
export function waitUntil(until: number | undefined, now: number): number {
  return Math.min(MAX_RETRY_AFTER, Math.max(1, Math.ceil((until ?? Infinity) - now)));
}
