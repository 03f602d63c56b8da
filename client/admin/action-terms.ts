/** The choices of a person before an action. */
import { DAY, HOUR } from "../../core/durations.js";
import type { AdminVerb } from "./admin-types.js";

export interface Terms {
  /** How long the override lasts, ms; `undefined`: until a person clears it. */
  lasts: number | undefined;
  times: number;
  plan?: string;
  /** Of the action `plan`: whether it is for all limits with plans, and not for one limit. */
  isEverywhere?: boolean;
}

/** By action, so that the question of an action shows that action's last choices again. */
export const FIRST_TERMS: Record<AdminVerb, Terms> = {
  ban: { lasts: HOUR, times: 2 },
  exempt: { lasts: HOUR, times: 2 },
  raise: { lasts: DAY, times: 2 },
  plan: { lasts: 7 * DAY, times: 2 },
  clear: { lasts: undefined, times: 2 },
  reset: { lasts: undefined, times: 2 },
};

/** Whether the action sets an override, which may end by itself. */
export function isTimed(action: AdminVerb): boolean {
  return action !== "clear" && action !== "reset";
}
