/** What calls of one limit would get, in few words, for one line of a list. */
import type { StatusText } from "./describe-state.js";
import { formatCount } from "./format.js";

export interface Summary {
  /** `some` where small calls would be granted, and larger ones denied. */
  state: StatusText["state"] | "some";
  text: string;
}

/**
 * @param statuses one for each count that the page follows, the smallest count first.
 * @param unit what the limit counts, in the singular.
 * @param isRefused whether the server does not tell of the limit.
 */
export function summaryOf(
  statuses: readonly (StatusText & { count: number })[],
  unit: string,
  isRefused: boolean,
): Summary {
  if (isRefused) return { state: "denied", text: "not told" };
  // A component that only shows the tokens follows a count of 0.
  const calls = statuses.filter(({ count }) => count > 0);
  const [least] = calls.length > 0 ? calls : statuses;
  if (!least || least.state === "unknown") return { state: "unknown", text: "unknown" };
  if (least.state === "denied") {
    return {
      state: "denied",
      text: least.wait === undefined ? "denied" : `denied (${least.wait})`,
    };
  }
  const larger = calls.find(({ state }) => state === "denied");
  if (!larger) return { state: "ok", text: "ok" };
  const tokens = formatCount(larger.count, unit);
  return {
    state: "some",
    text: larger.wait === undefined ? `${tokens} denied` : `${tokens} in ${larger.wait}`,
  };
}
