/** Shows a limit as it is written: its kind, its config, its plans, and what operators can do with it. */
import { usageTerms } from "../../../core/rows/usage.js";
import type { LimitConfigs } from "../../limiter/types/names.js";
import type { Operator } from "../../limiter/parts/operator.js";
import type { AdminLimit, AdminPlan } from "./admin-types.js";

export function shownLimit<TName extends string>(
  operator: Operator,
  name: TName,
  own: LimitConfigs[string],
): AdminLimit<TName> {
  const isSlots = own.kind === "concurrency";
  const usage = isSlots ? undefined : own.usage;
  const plans = plansOf(operator, name);
  return {
    name,
    kind: own.kind,
    config: operator.ownConfig(name),
    ...(plans.length > 0 && { plans }),
    usage: Boolean(usage),
    ...(usage && { usageEvery: usageTerms(usage).every }),
    holds: !isSlots && own.holds === true,
    overrides: operator.overriding !== undefined && !isSlots,
  };
}

/** The plans of a limit, in the order of the limiter. */
function plansOf({ plans }: Operator, name: string): AdminPlan[] {
  return Object.entries(plans.shown()).flatMap(([plan, { [name]: terms }]) =>
    terms === undefined ? [] : [{ plan, terms: terms as AdminPlan["terms"] }],
  );
}

/** The limits of which a key can be given a plan. */
export function withPlans<TName extends string>(
  { plans, slotConfigs }: Pick<Operator, "plans" | "slotConfigs">,
  names: readonly TName[],
): TName[] {
  return names.filter((name) => plans.has(name) && !slotConfigs.has(name));
}
