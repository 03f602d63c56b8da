/**
 * The decisions of a seed about pages. These decisions have a generator of their own, so that the rest of
 * the seed stays as it is.
 */
import type { FaultPlan } from "../faults.js";
import { createRandom } from "../random.js";

export interface PagesPlan {
  /** How many pages are open at a time. */
  count: number;
  /** The number of visitors. Several pages of one visitor share buckets, as tabs do. */
  visitors: number;
  /** How far the clocks of pages are from the true time at most, ms. */
  clockError: number;
  /** The delay of one way between a page and a process, ms. */
  delay: { least: number; most: number };
  /** The most streams of a visitor in one process. */
  maxStreams: number;
  faults: FaultPlan;
}

const OF_REQUESTS = [
  "lost question",
  "lost answer",
  "hanging question",
  "slow page answer",
] as const;
const OF_PAGES = [
  "broken stream",
  "silent stream",
  "ended stream",
  "held streams",
  "frozen page",
  "sleeping page",
  "vanished page",
  "page clock set",
] as const;

export function pagesOf(seed: number): PagesPlan {
  const random = createRandom(seed ^ 0x2545f491);
  const count = random.pick([0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
  const hasFaults = random.chance(0.7);
  const perStatement: FaultPlan["perStatement"] = {};
  const every: FaultPlan["every"] = {};
  for (const fault of OF_REQUESTS) {
    if (hasFaults && random.chance(0.3)) perStatement[fault] = random.pick([0.02, 0.1, 0.3]);
  }
  for (const fault of OF_PAGES) {
    if (hasFaults && random.chance(0.3)) every[fault] = random.between(300, 8000);
  }
  return {
    count,
    visitors: random.between(1, 4),
    clockError: random.pick([0, 50, 3_600_000]),
    delay: random.chance(0.3) ? { least: 20, most: 150 } : { least: 0.5, most: 10 },
    maxStreams: random.pick([1, 10, 10]),
    faults: { perStatement, every },
  };
}
