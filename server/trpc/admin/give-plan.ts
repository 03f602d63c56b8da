/** Puts a key on a plan, for one limit, or for all limits with plans that the caller may change. */
import { act, type ActionInput } from "./actions.js";
import type { AdminPlanChange } from "./change-types.js";

/**
 * Changes one limit after the other, and tells the listeners of each change: if a later limit fails, the
 * changes before are known.
 *
 * @param by the operator, as `admin.actor` names them.
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
