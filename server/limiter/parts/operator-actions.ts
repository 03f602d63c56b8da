/** Tells the events of operators' actions from the events of calls. */
import type { DecisionEvent, OperatorAction } from "../types/limiter-options.js";

const ACTIONS: Record<OperatorAction, true> = {
  ban: true,
  exempt: true,
  raise: true,
  give: true,
  plan: true,
  clear: true,
  reset: true,
  undo: true,
};

export const OPERATOR_ACTIONS = Object.keys(ACTIONS) as OperatorAction[];

export function isOperatorAction(action: DecisionEvent["action"]): action is OperatorAction {
  return Object.hasOwn(ACTIONS, action);
}
