/** The result of one limiter in a race, counted from the answers of all callers. */
import { ALLOWED } from "../shared/race-size.js";
import type { Calls, Outcome } from "./make-calls.js";

/** Over: granted, although the grants before have used all tokens. */
export type Shown = Outcome | "over";

export interface Result {
  processes: {
    pid: number;
    /** In the order in which the calls started. */
    outcomes: Shown[];
    /** When each of these calls had its answer, ms after the first call of the race. */
    after: number[];
  }[];
  granted: number;
  /** From the first call to the last answer. */
  ms: number;
  /** How many tokens are taken, by the limiter's row. */
  taken: number;
}

export interface Race {
  naive: Result;
  package: Result;
  /** `undefined`: there is no database, and two callers in one thread stand for the processes. */
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
