/** The choices of a person before an action. */
import { DAY, HOUR } from "../../core/durations.js";
import { kindOf, kindSetBy } from "../../core/override-kinds.js";
import type { ChangeInput } from "./admin-client.js";
import type { AdminOverride, AdminVerb } from "./admin-types.js";

export interface Terms {
  /** How long the override lasts, ms; `undefined`: until a person clears it, or until `until`. */
  lasts: number | undefined;
  /** When the override ends, as `datetime-local` writes it, in place of `lasts`. */
  until?: string;
  times: number;
  add: number;
  plan?: string;
  /** Of the action `plan`: whether it is for all limits with plans, and not for one limit. */
  isEverywhere?: boolean;
  /** Of the action `clear`: the kind of override that ends; `undefined` for all of them. */
  only?: OverrideKind | undefined;
  why: string;
}

export type OverrideKind = NonNullable<ChangeInput["only"]>;

const FIRST = { times: 2, add: 100, why: "" };

/** By action, so that the question of an action shows that action's last choices again. */
export function firstTerms(): Record<AdminVerb, Terms> {
  return {
    ban: { ...FIRST, lasts: HOUR },
    exempt: { ...FIRST, lasts: HOUR },
    raise: { ...FIRST, lasts: DAY },
    give: { ...FIRST, lasts: undefined, until: tomorrow() },
    plan: { ...FIRST, lasts: 7 * DAY },
    clear: { ...FIRST, lasts: undefined },
    reset: { ...FIRST, lasts: undefined },
  };
}

/** Whether the action sets an override, which may end by itself. */
export function isTimed(action: AdminVerb): boolean {
  return action !== "clear" && action !== "reset";
}

/** The part of the input that says what a person has chosen. */
export function inputOf(action: AdminVerb, terms: Terms): Omit<ChangeInput, "name" | "key"> {
  const { lasts, until, times, add, plan, only, why } = terms;
  const end = until === undefined ? NaN : Date.parse(until);
  const said = why.trim();
  return {
    ...(isTimed(action) && !Number.isNaN(end) && { until: end }),
    ...(isTimed(action) && until === undefined && lasts !== undefined && { for: lasts }),
    ...(action === "raise" && { times }),
    ...(action === "give" && { add }),
    ...(action === "plan" && plan !== undefined && { plan }),
    ...(action === "clear" && only !== undefined && { only }),
    ...(said !== "" && { why: said }),
  };
}

/** The override that an action would replace, or has set. All others stay. */
export function replacedBy(
  action: AdminVerb,
  overrides: readonly AdminOverride[],
): AdminOverride | undefined {
  return overrides.find((override) => kindOf(override) === kindSetBy(action));
}

/** The choices without a kind that a person cannot choose now, because it has ended since. */
export function fittingTerms(terms: Terms, overrides: readonly AdminOverride[]): Terms {
  const isThere = overrides.some((override) => kindOf(override) === terms.only);
  return isThere && overrides.length > 1 ? terms : { ...terms, only: undefined };
}

/** Tomorrow at nine, as `datetime-local` writes it. */
export function tomorrow(): string {
  const day = new Date();
  // Not 24 hours later, because the day on which clocks go forward has 23.
  day.setDate(day.getDate() + 1);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}T09:00`;
}
