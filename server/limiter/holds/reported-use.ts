/** The use that a provider reports. The figure can be missing. */
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
