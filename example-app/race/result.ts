/** What a race shows of one limiter: counted from the answers of all callers. */
import { ALLOWED } from "../shared/race-size.js";
import type { Calls, Outcome } from "./make-calls.js";

/** Over: granted, although so many were granted before that none was left. */
export type Shown = Outcome | "over";

export interface Result {
  processes: {
    pid: number;
    /** In the order in which the calls started. */
    outcomes: Shown[];
    /** The same calls: when each had its answer, ms after the first call of the race. */
    after: number[];
  }[];
  granted: number;
  /** From the first call to the last answer. */
  ms: number;
  /** How many tokens its row says are taken. */
  taken: number;
}

export interface Race {
  naive: Result;
  package: Result;
  /** `undefined`: there is none, and two callers in one thread are the processes. */
  database?: string;
}

export function resultOf(callers: readonly { pid: number; calls: Calls }[], taken: number): Result {
  const all = callers.flatMap(({ calls }) => calls.answers);
  const start = Math.min(...callers.map(({ calls }) => calls.startedAt));
  const grants = all.filter(({ outcome }) => outcome === "granted").sort((a, b) => a.at - b.at);
  const over = new Set<Calls["answers"][number]>(grants.slice(ALLOWED));
  return {
    processes: callers.map(({ pid, calls }) => ({
      pid,
      outcomes: calls.answers.map((answer) => (over.has(answer) ? "over" : answer.outcome)),
      after: calls.answers.map(({ at }) => at - start),
    })),
    granted: grants.length,
    ms: Math.max(...all.map(({ at }) => at)) - start,
    taken,
  };
}
