/** Runs many seeds one after the other, and sums up what happened in them. */
import { type Fault, Tally } from "./faults.js";
import type { Cut } from "./scenario.js";
import { simulate } from "./simulate.js";
import { argumentsOf, shrink } from "./shrink.js";
import type { StartShipped } from "./shipped.js";

export interface Explored {
  seeds: number;
  /** The number of calls of limiters. */
  calls: number;
  events: number;
  /** The virtual time, ms. */
  time: number;
  faults: Tally<Fault>;
  kinds: Tally<string>;
  reached: Tally<string>;
  /** The arguments that replay each failure, and its first problem. */
  failures: { seed: number; replay: string; problem: string }[];
}

export interface ExploreOptions {
  seeds: Iterable<number>;
  /** Stops after the seed at which this is false. */
  shouldContinue(soFar: Explored): boolean;
  /** Whether to look for the smallest scenario of each failure. */
  shrinks: boolean;
  /** A `database` here replaces the one that the seed chooses. */
  cut?: Cut;
}

export function* seedsFrom(first: number, step: number): Generator<number> {
  for (let seed = first; ; seed += step) yield seed;
}

export async function explore(
  start: StartShipped,
  { seeds, shouldContinue, shrinks, cut: given = {} }: ExploreOptions,
): Promise<Explored> {
  const explored: Explored = {
    seeds: 0,
    calls: 0,
    events: 0,
    time: 0,
    faults: new Tally(),
    kinds: new Tally(),
    reached: new Tally(),
    failures: [],
  };
  for (const seed of seeds) {
    const report = await simulate(start, seed, given);
    explored.seeds++;
    explored.events += report.events;
    explored.time += report.scenario.duration;
    explored.faults.addAll(report.faults);
    explored.kinds.addAll(report.calls);
    explored.reached.addAll(report.reached);
    for (const count of report.calls.counts.values()) explored.calls += count;
    if (report.problems.length > 0) {
      const { cut, report: least } = shrinks ? await shrink(start, report) : { cut: given, report };
      explored.failures.push({ seed, replay: argumentsOf(seed, cut), problem: least.problems[0]! });
    }
    if (!shouldContinue(explored)) break;
  }
  return explored;
}
