/** Finds out since when keys are limited, as far as that is known. */
import type { Operator } from "../../limiter/parts/operator.js";
import { writtenAt } from "../../limiter/context/stored-rows.js";
import type { AdminItem } from "./admin-types.js";
import type { DecisionRecorder } from "./recorder.js";

/**
 * Adds `since` to the items that are denied:
 *
 * - a ban: when the ban was set;
 * - a token bucket of one row: when the row was last written, because the bucket has only refilled since;
 * - any other bucket: the oldest denial in its window that this process still knows.
 */
export async function withSince(
  operator: Pick<Operator, "context" | "toStoredKey">,
  recorder: DecisionRecorder,
  name: string,
  items: readonly AdminItem[],
): Promise<AdminItem[]> {
  const buckets = items.filter(isOneBucket).map(({ key = "" }) => key);
  const written = await writtenAt(operator.context, name, buckets);
  const firstDenials = oldestDenials(operator, recorder, name);
  return items.map((item) => {
    const since = sinceOf(item);
    return since === undefined ? item : { ...item, since };
  });

  function sinceOf(item: AdminItem): number | undefined {
    if (item.retryAfter === undefined) return undefined;
    if (item.override?.blocked) return item.override.setAt;
    if (isOneBucket(item)) return written.get(item.key ?? "");
    return firstDenials(item);
  }
}

function isOneBucket({ retryAfter, override, config }: AdminItem): boolean {
  const { kind, shards = 1 } = config;
  return retryAfter !== undefined && !override?.blocked && kind === "token bucket" && shards === 1;
}

function oldestDenials(
  { toStoredKey }: Pick<Operator, "toStoredKey">,
  recorder: DecisionRecorder,
  name: string,
): (item: AdminItem) => number | undefined {
  let byKey: Map<string, number[]> | undefined;
  return ({ key = "", ts, config }) => {
    if (config.kind !== "fixed window" || "slots" in config) return undefined;
    if (byKey === undefined) {
      byKey = new Map();
      for (const denial of recorder.denials([name], Infinity).items) {
        const stored = toStoredKey(denial.key) ?? "";
        byKey.set(stored, [denial.at, ...(byKey.get(stored) ?? [])]);
      }
    }
    return byKey.get(key)?.find((at) => at >= ts);
  };
}
