/** The use that a provider reports. The figure can be missing. */
import { describe, RateLimitInputError } from "../../../core/errors.js";
import type { Context } from "../context/context.js";
import type { Ending } from "../claims/end-hold.js";

/** The tokens that were used, as a provider reports or omits them. */
export type Usage = number | null | undefined;

/**
 * Whether a figure is missing: `undefined`, `null`, or the `NaN` of a sum with a missing figure. A
 * missing figure is the only kind of bad figure that is no mistake of the caller.
 */
export function isMissing(actual: unknown): actual is null | undefined {
  return actual === undefined || actual === null || Number.isNaN(actual);
}

/** The tokens that were used of each limit. */
export type UsageByName = Readonly<Record<string, Usage>>;

/**
 * @param items the limits that each item of the call may have charged.
 * @throws RateLimitInputError for what is no object, for a count of no item, and for two counts of one
 * item. An ignored count would stay charged.
 */
export function validateByName(actual: unknown, items: readonly (readonly string[])[]): void {
  const problem = problemIn(actual, items);
  if (problem === undefined) return;
  throw new RateLimitInputError("name", `settle() needs an object of counts by name: ${problem}`);
}

function problemIn(actual: unknown, items: readonly (readonly string[])[]): string | undefined {
  if (typeof actual !== "object" || actual === null) return `got ${describe(actual)}`;
  const given = Object.keys(actual);
  const other = given.find((name) => !items.some((names) => names.includes(name)));
  if (other !== undefined) return `${describe(other)} is none of the limits that were charged`;
  const twice = items.map((names) => names.filter((name) => given.includes(name)));
  const [name, second] = twice.find((names) => names.length > 1) ?? [];
  return name && `${describe(name)} and ${describe(second)} pay for one count, so give one of them`;
}

/** Without a figure, a hold ends as it was estimated. */
export function endingOf(actual: Usage): Ending {
  return isMissing(actual) ? { kind: "give back", count: 0 } : { kind: "settle", actual };
}

/** Says, once in a while, that an estimate stays charged. */
export function warnOf({ warn }: Pick<Context, "warn">, name: string, actual: Usage): void {
  warn(
    `settle ${name}`,
    `settle() got ${String(actual)} as the use of a call on "${name}", so its estimate stays charged`,
  );
}
