/** The keys with the most of limits without `usage`: of the decisions that processes have seen. */
import type { Operator } from "../../limiter/parts/operator.js";
import { addCounts, countsOf, noKeyCounts, type TopCounts } from "./key-history.js";
import type { DecisionRecorder } from "./recorder.js";

export interface TopQuestion {
  readonly from: number;
  readonly to: number;
  readonly by: "denied" | "taken";
}

export interface TopAnswer {
  /** The processes that listen to the channel of the limiter, or this process. */
  readonly source: "processes" | "process";
  /** From when on the numbers are complete, epoch ms. */
  readonly since: number;
  /** By the name of a limit. The keys are stored keys, `""` for the shared bucket. */
  readonly byName: ReadonlyMap<string, TopCounts>;
}

export interface TopOfProcesses {
  top(names: readonly string[], question: TopQuestion): Promise<TopAnswer>;
}

/** What this process has seen, by stored key. */
export function topOfProcess(
  recorder: Pick<DecisionRecorder, "top">,
  { toStoredKey }: Pick<Operator, "toStoredKey">,
  names: readonly string[],
  { from, to }: TopQuestion,
): Map<string, TopCounts> {
  const byName = new Map<string, TopCounts>();
  for (const name of names) {
    const seen = recorder.top(name, from, to);
    if (seen === undefined) continue;
    const found: TopCounts = { total: noKeyCounts(), keys: new Map() };
    addCounts(found.total, seen.total);
    for (const [key, counts] of seen.keys) {
      addCounts(countsOf(found, toStoredKey(key || undefined) ?? ""), counts);
    }
    byName.set(name, found);
  }
  return byName;
}
