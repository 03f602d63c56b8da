/** What a person chooses before an action. */
import { DAY, HOUR } from "../../core/durations.js";
import type { AdminVerb } from "./admin-types.js";

export interface Terms {
  /** ms; `undefined` for until it is cleared. */
  lasts: number | undefined;
  times: number;
  plan?: string;
  /** Of a plan: for all limits with plans, and not for one. */
  isEverywhere?: boolean;
}

/** By action, so that a question that is asked again is as it was left. */
export const FIRST_TERMS: Record<AdminVerb, Terms> = {
  ban: { lasts: HOUR, times: 2 },
  exempt: { lasts: HOUR, times: 2 },
  raise: { lasts: DAY, times: 2 },
  plan: { lasts: 7 * DAY, times: 2 },
  clear: { lasts: undefined, times: 2 },
  reset: { lasts: undefined, times: 2 },
};

/** Whether it sets an override, which may end by itself. */
export function isTimed(action: AdminVerb): boolean {
  return action !== "clear" && action !== "reset";
}
