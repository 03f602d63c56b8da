/**
 * Usage: how much each key used of a limit, in spans of `every`. For each key and span there are up to
 * five counters. Each counter is a row of its own, which exists only if it has counted something:
 *
 * | shard | counts                                                  |
 * | ----- | ------------------------------------------------------- |
 * | 0     | tokens taken, without those of shard 1                  |
 * | 1     | granted calls that took one token each: calls = tokens  |
 * | 2     | calls that were denied                                  |
 * | 3     | tokens that were given back                             |
 * | 4     | granted calls that took another number of tokens        |
 *
 * So most keys have one row per span: most calls take one token. The key of a row is that of its bucket,
 * a bar and the start of the span, epoch ms. A row without the key of a bucket counts all keys together.
 *
 * - `used`: what was counted. So counting is a take, which a store carries out in one statement for
 *   many rows, whether they exist or not. Whole numbers are exact up to 2^53.
 * - `ts`: the start of the span. It never changes.
 *
 * A counter is a fixed window of more tokens than it ever counts, and begins with the span. A counter is
 * charged at the start of the span, whatever the time is: so nothing refills, and no clock matters. It is
 * full, and `prune` may delete it, when the window is over: `keep` after the end of the span.
 */
import type { Bucket, PeriodicConfig } from "../config.js";
import { DAY, HOUR } from "../durations.js";
import type { UsageConfig } from "../limit-config.js";
import type { Usage } from "../usage.js";
import { markerKey } from "./marker.js";
import type { Row } from "./row.js";
import { FULL, RESERVED_PREFIX, type SideRows } from "./side-rows.js";

export const USAGE: SideRows = {
  prefix: `${RESERVED_PREFIX}usage:`,
  configOf: (config) =>
    config.kind === "concurrency" || !config.usage
      ? undefined
      : counterConfig(usageTerms(config.usage), 0),
  optionOf: (config) => (config.kind !== "concurrency" && config.usage ? "usage" : undefined),
  keyStart: (storedKey) => markerKey(storedKey),
};

/** How a limit counts its usage. */
export interface UsageTerms {
  /** The length of a span, ms. */
  readonly every: number;
  /** How long the rows of a span stay after its end, ms. */
  readonly keep: number;
  /** Whether spans are also found by time, see `span.ts`. */
  readonly changes: boolean;
}

const DEFAULT_TERMS: UsageTerms = { every: HOUR, keep: 90 * DAY, changes: false };

export function usageTerms(option: true | UsageConfig): UsageTerms {
  if (option === true) return DEFAULT_TERMS;
  const { every, keep, changes } = DEFAULT_TERMS;
  return {
    every: option.every ?? every,
    keep: option.keep ?? keep,
    changes: option.changes ?? changes,
  };
}

/** The start of the span of an instant. Spans begin at midnight UTC. */
export function spanAt(every: number, now: number): number {
  return Math.floor(now / every) * every;
}

/** The most characters behind the key of a bucket: a bar, and the digits of the last instant of a date. */
export const END_OF_COUNTER = 17;

/** The number that each counter has counted, by shard. */
export type Counts = number[];

/** The number of counters of a key in a span. */
export const COUNTERS = 5;

export function noCounts(): Counts {
  return [0, 0, 0, 0, 0];
}

/** Adds usage to counters. */
export function addUsage(counts: Counts, usage: Partial<Usage>): void {
  const { granted = 0, denied = 0, taken = 0, givenBack = 0 } = usage;
  if (granted === 1 && taken === 1) counts[1]! += 1;
  else {
    counts[0]! += taken;
    counts[4]! += granted;
  }
  counts[2]! += denied;
  counts[3]! += givenBack;
}

/** The usage that the counters of a span tell together. */
export function usageIn([others, ones, denied, givenBack, granted]: Counts): Usage {
  return {
    granted: ones! + granted!,
    denied: denied!,
    taken: others! + ones!,
    givenBack: givenBack!,
  };
}

/** The most that a counter counts. */
const MOST = 2 ** 62;

/** @param start of the span, epoch ms. */
export function counterConfig(
  { every, keep }: Pick<UsageTerms, "every" | "keep">,
  start: number,
): PeriodicConfig & Bucket {
  return { kind: "fixed window", rate: FULL, capacity: MOST, period: every + keep, start };
}

/** The number that a counter has counted. */
export function countOf(row: Row | null): number {
  return row?.used ?? 0;
}

/** A counter after `count` more. */
export function counted(row: Row | null, start: number, count: number): Row {
  return { used: Math.min(MOST, countOf(row) + count), ts: start };
}
