/**
 * The faults, how likely each is, and how often it happened. Each fault is counted, because a fault that
 * never happens in a thousand simulations is a mistake of the simulation.
 */
import type { Random } from "./random.js";

export const FAULTS = [
  /** The request or the answer takes long. */
  "slow request",
  "slow answer",
  /** The connection breaks, before or after the statement was carried out. */
  "reset before",
  "reset after",
  /** The connection carries no more answers, and neither side is told. */
  "silent before",
  "silent after",
  /** A process computes for long, or is stopped by its host. */
  "busy process",
  "frozen process",
  "killed process",
  /** The process's machine sleeps, and its monotonic clock stands still meanwhile. */
  "sleeping process",
  /** A clock is set. */
  "process clock set",
  "database clock set",
  /** The database answers nothing for a while. */
  "frozen database",
  /** Another server takes over. */
  "failover",
  "failover with loss",
  /** A transaction of the application holds rows. */
  "held rows",
  /** Connections break while nothing uses them. */
  "idle connections broken",
  /** Between a page and a process: the request is lost, the answer is lost, or both take very long. */
  "lost question",
  "lost answer",
  "hanging question",
  "slow page answer",
  /** A stream breaks, falls silent, or is ended by the process. */
  "broken stream",
  "silent stream",
  "ended stream",
  /** A proxy holds streams back. Requests pass. */
  "held streams",
  /** A page is stopped, its machine sleeps, or the page vanishes silently. */
  "frozen page",
  "sleeping page",
  "vanished page",
  "page clock set",
] as const;

export type Fault = (typeof FAULTS)[number];

/** How likely a statement meets a fault of its connection, and how often other faults happen. */
export interface FaultPlan {
  /** By fault: the probability for each statement, or for each request of a page. */
  perStatement: Partial<Record<Fault, number>>;
  /** By fault: the average time between two of these faults, ms. */
  every: Partial<Record<Fault, number>>;
}

/** Counts events by name. */
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
