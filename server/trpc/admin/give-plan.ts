/** Gives a key a plan: of one limit, or of all limits with plans that the caller may change. */
import { act, type ActionInput } from "./actions.js";
import type { AdminPlanChange } from "./admin-types.js";

/**
 * One limit after the other, each told to those who listen: if a later one fails, what was done is known.
 *
 * @param by who does it.
 */
export async function givePlan<TName extends string>(
  parts: Parameters<typeof act>[0],
  names: readonly TName[],
  input: Omit<ActionInput, "name">,
  by: string | undefined,
): Promise<AdminPlanChange<TName>> {
  const changes: AdminPlanChange<TName>["changes"] = [];
  for (const name of names) {
    changes.push({ name, ...(await act(parts, "plan", { ...input, name }, by)) });
  }
  return { now: parts.operator.clock(), changes };
}
