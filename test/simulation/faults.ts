/**
 * What can go wrong, how often, and how often it did. A fault that never happens in a thousand
 * simulations is a mistake of the simulation, so each one is counted.
 */
import type { Random } from "./random.js";

export const FAULTS = [
  /** The request or the answer takes long. */
  "slow request",
  "slow answer",
  /** The connection breaks, before or after the statement was carried out. */
  "reset before",
  "reset after",
  /** The connection answers no more, and nobody is told. */
  "silent before",
  "silent after",
  /** A process computes for long, or its machine sleeps. */
  "busy process",
  "frozen process",
  "killed process",
  /** Its machine sleeps, and its monotonic clock stands still meanwhile. */
  "sleeping process",
  /** A clock is set. */
  "process clock set",
  "database clock set",
  /** Nothing is answered for a while. */
  "frozen database",
  /** Another server takes over. */
  "failover",
  "failover with loss",
  /** A transaction of the application holds rows. */
  "held rows",
  /** Connections break while nothing uses them. */
  "idle connections broken",
  /** The way between a page and a process: the question is lost, the answer, or both for long. */
  "lost question",
  "lost answer",
  "hanging question",
  "slow page answer",
  /** A stream breaks, falls silent without a word, or is ended by the process. */
  "broken stream",
  "silent stream",
  "ended stream",
  /** A proxy holds streams back. Requests pass. */
  "held streams",
  /** A page is stopped, its machine sleeps, or it is gone without a word. */
  "frozen page",
  "sleeping page",
  "vanished page",
  "page clock set",
] as const;

export type Fault = (typeof FAULTS)[number];

/** How likely a statement meets a fault of its connection, and how often the others happen. */
export interface FaultPlan {
  /** By fault: the probability for each statement, or for each request of a page. */
  perStatement: Partial<Record<Fault, number>>;
  /** By fault: how many ms apart, on average. */
  every: Partial<Record<Fault, number>>;
}

/** Counts of what has happened. */
export class Tally<TName extends string> {
  readonly counts = new Map<TName, number>();

  note(name: TName, count = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  addAll(other: Tally<TName>): void {
    for (const [name, count] of other.counts) this.note(name, count);
  }
}

/** The fault that the next statement of a connection meets, if any. */
export function faultOfStatement(plan: FaultPlan, random: Random): Fault | undefined {
  const dice = random.next();
  let sum = 0;
  for (const fault of FAULTS) {
    sum += plan.perStatement[fault] ?? 0;
    if (dice < sum) return fault;
  }
  return undefined;
}
