/**
 * The config of a limit under a plan, for tests of components. The server checks the terms of plans;
 * here, the terms are not checked.
 */
import type { LimitConfig, RateLimitConfig } from "../core/limit-config.js";
import type { PlannedConfig, PlanTerms } from "../server/limiter/types/plan-types.js";

/** The config of a limit under a plan. */
export interface ConfigOfPlan {
  config: LimitConfig;
  /** The name of the plan; `undefined` for a limit without plans. */
  plan: string | undefined;
  /** Whether the plan has no tokens of the limit: every call is denied, for ever. */
  isNone: boolean;
}

/** @param plan by default, the first plan of the limit. */
export function configOfPlan(
  given: LimitConfig | PlannedConfig,
  plan: string | undefined,
): ConfigOfPlan {
  if (!("plans" in given)) return { config: given, plan: undefined, isNone: false };
  const { plans, ...shared } = given;
  const name = plan ?? Object.keys(plans)[0];
  if (name === undefined || !Object.hasOwn(plans, name)) {
    const known = Object.keys(plans).join(", ");
    throw new RangeError(`plan must be one of ${known}, got ${String(name)}`);
  }
  return { config: configOf(shared, plans[name]!), plan: name, isNone: plans[name] === "none" };
}

function configOf(shared: object, terms: PlanTerms): LimitConfig {
  const { kind, period } = shared as RateLimitConfig | { kind: "concurrency"; period?: undefined };
  if (kind === "concurrency") return { ...shared, slots: terms } as LimitConfig;
  if (typeof terms === "object") return { ...shared, ...terms } as LimitConfig;
  if (typeof terms === "number") return { ...shared, rate: terms } as LimitConfig;
  // The configs by which the server shows these terms. `"unlimited"`: always full, and a shadow.
  // `"none"`: empty until a window that never begins.
  if (terms === "unlimited") return { ...shared, rate: 1, shadow: true } as LimitConfig;
  const never = { kind: "fixed window", rate: 1, period, capacity: 1, maxReserved: 0, starts: [] };
  return never as unknown as LimitConfig;
}
