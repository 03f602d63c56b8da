/** The plan of a request: said by its host, or by the limiter's own `plan` function. */
import { describe, RateLimitConfigError } from "../../../core/errors.js";
import type { LimitConfigs } from "../types/names.js";
import { insideOf } from "./inside.js";
import { hasPlans } from "../limits/plans/plan-table.js";

/** The part of a limiter that says which limits have plans. */
interface HasLimits {
  readonly limits: LimitConfigs;
}

/** The `plan` function of the limiter itself. `undefined` while the limiter is switched off. */
export type PlanOfKey = (
  name: string,
  key: string | undefined,
) => string | undefined | Promise<string>;

/**
 * `undefined` where the limiter has no `plan` function, and where a wrapper has left out the limiter's
 * parts (`inside.ts`).
 */
export function planFunctionOf(limiter: object): PlanOfKey | undefined {
  try {
    const { asked, switching } = insideOf(limiter).parts;
    if (asked === undefined) return undefined;
    return (name, key) => (switching?.isOn() === false ? undefined : asked.of(name, key));
  } catch {
    return undefined;
  }
}

/** The plans of a limit; `undefined` for a limit without plans. */
export function plansOf(limits: LimitConfigs, name: string): readonly string[] | undefined {
  const config = limits[name];
  return config !== undefined && hasPlans(config) ? Object.keys(config.plans) : undefined;
}

/** @throws RateLimitConfigError for an answer that is no plan. */
export function checkedPlan(
  plan: unknown,
  plans: readonly string[],
  { name, by }: { name: string; by: string },
): string {
  if (plans.includes(plan as string)) return plan as string;
  const message =
    `${by} returned ${describe(plan)} for rate limit ${describe(name)}; ` +
    `return one of ${plans.map(describe).join(", ")}`;
  throw new RateLimitConfigError("plan", plan, { message });
}

/**
 * Checks the `plan` option of a host once, when it is defined.
 *
 * @param of the function that has the option, such as `rateLimited()`.
 * @throws RateLimitConfigError for a plan that the limits do not have, for a plan of limits without
 * plans, and for limits with plans where nothing says the plan.
 */
export function validatePlan(
  of: string,
  limiter: HasLimits,
  names: readonly string[],
  plan: unknown,
): void {
  const planned = names.find((name) => plansOf(limiter.limits, name) !== undefined);
  if (plan === undefined)
    return planned === undefined ? undefined : demandPlan(of, limiter, planned);
  if (planned === undefined) {
    const message = `plan of ${of} is for limits with plans, and its limits have none; leave it out`;
    throw new RateLimitConfigError("plan", plan, { message });
  }
  const plans = plansOf(limiter.limits, planned)!;
  if (typeof plan === "function" || plans.includes(plan as string)) return;
  const expected = `one of ${plans.map(describe).join(", ")}, or a function of the request`;
  throw new RateLimitConfigError("plan", plan, expected);
}

function demandPlan(of: string, limiter: HasLimits, name: string): void {
  if (planFunctionOf(limiter) !== undefined) return;
  const message =
    `${describe(name)} has plans, and nothing says the plan of a request: give ${of} the option plan, ` +
    "or give it to createRateLimiter(); of a limiter that wraps such a one, pass { ...limiter, and what it changes }";
  throw new RateLimitConfigError("plan", undefined, { message });
}

/**
 * The plan of a request as an option of a call; none for a limit without plans.
 *
 * @param say asks the host for the plan; the limiter rejects an answer that is no plan.
 */
export async function planOption(
  limiter: HasLimits,
  { name, key }: { name: string; key: string | undefined },
  say: (() => string | Promise<string>) | undefined,
): Promise<{ plan?: string }> {
  if (plansOf(limiter.limits, name) === undefined) return {};
  // The plan is asked here, so that the header fields of the answer go by the plan of the charge.
  const plan = say === undefined ? await planFunctionOf(limiter)?.(name, key) : await say();
  return plan === undefined ? {} : { plan };
}
