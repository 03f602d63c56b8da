/**
 * A limit that counts which key used how much. At the end, the table is compared with the answers that
 * the callers got. A killed process loses what it has not written, and no other process loses anything.
 */
import type { LimitConfigs } from "../../../server/index.js";
import type { Process } from "../process.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";

/** The counts of a call, at the time of its answer. */
export interface Metered {
  process: Process;
  /** ms. */
  at: number;
  key: string;
  granted: number;
  taken: number;
  denied: number;
}

/** How long sums wait before they are written, ms. */
export const FLUSH = 400;

const LIMITS = {
  metered: { kind: "token bucket", rate: 40, period: 1000, capacity: 12, usage: true },
} as const satisfies LimitConfigs;

const KEYS = 3;
/** Keeps a seed short. */
const MOST_CALLS = 100;

export function createMetered(metered: Metered[]): Workload {
  return async (caller: Caller) => {
    const { member, random, timeline, tally } = caller;
    const limiter = member.limiter(LIMITS, undefined, undefined, FLUSH);
    for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
      const key = `key ${random.below(KEYS)}`;
      const count = random.between(1, 3);
      tally.note("metered");
      try {
        const { ok } = await caller.timed("metered", 2000, () =>
          limiter.limit("metered", { key, count }),
        );
        const [granted, taken, denied] = ok ? [1, count, 0] : [0, 0, 1];
        const { process } = member;
        metered.push({ process, at: timeline.now, key, granted, taken, denied });
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "metered");
      }
      if (random.chance(0.6)) await member.sleep(random.below(60));
    }
  };
}

/**
 * The shards of a row whose counts make each sum. A granted call for one token counts for both sums in
 * shard 1.
 */
const SHARDS = { granted: ["1", "4"], taken: ["1", "0"], denied: ["2"] } as const;

/**
 * The problem of the rows; `undefined` if there is none.
 *
 * @param lastWritten until when a process has certainly written its sums, ms.
 * @param mayRepeat whether answers of writes may have been lost. Such a write may be there twice.
 */
export function problemOf(
  metered: readonly Metered[],
  rows: readonly (readonly [id: string, row: { used: number }])[],
  lastWritten: (process: Process) => number,
  mayRepeat: boolean,
): string | undefined {
  for (const key of new Set(["", ...metered.map((call) => call.key)])) {
    const calls = metered.filter((call) => key === "" || call.key === key);
    for (const [what, shards] of Object.entries(SHARDS) as ["granted", readonly string[]][]) {
      const written = calls.filter(({ process, at }) => at <= lastWritten(process));
      const least = written.reduce((sum, call) => sum + call[what], 0);
      const most = calls.reduce((sum, call) => sum + call[what], 0);
      const counted = rows.reduce((sum, [id, { used }]) => {
        const [name, ofKey, shard] = id.split("\0") as [string, string, string];
        const isOwn = name.endsWith("usage:metered") && ofKey.startsWith(`${key}|`);
        return isOwn && shards.includes(shard) ? sum + used : sum;
      }, 0);
      if (counted >= least && (mayRepeat || counted <= most)) continue;
      return `the usage of "${key}" is ${counted} ${what}, and not ${least} to ${most}`;
    }
  }
  return undefined;
}
