/** Which events are about what an operator did, and not about a call. */
import type { DecisionEvent, OperatorAction } from "../types/limiter-options.js";

const ACTIONS: Record<OperatorAction, true> = {
  ban: true,
  exempt: true,
  raise: true,
  plan: true,
  clear: true,
  reset: true,
};

export const OPERATOR_ACTIONS = Object.keys(ACTIONS) as OperatorAction[];

export function isOperatorAction(action: DecisionEvent["action"]): action is OperatorAction {
  return Object.hasOwn(ACTIONS, action);
}
