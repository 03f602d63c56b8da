/**
 * Limits with leases, whose buckets all processes share, on the clock of the database. No tokens may be
 * granted that were not there, whatever happens to the processes that hold blocks.
 */
import {
  LeaseCaller,
  type LeasedLimit,
  type RecordedEvent,
  USES,
} from "../../histories/lease-caller.js";
import { createRandom } from "../random.js";
import type { Scenario } from "../scenario.js";
import { answers, type Workload } from "./context.js";

const SECOND = 1000;

export const LEASED = {
  short: [
    {
      kind: "token bucket",
      rate: 200,
      period: SECOND,
      capacity: 120,
      maxReserved: 20,
      lease: { ms: 150 },
    },
    { kind: "token bucket", rate: 320, period: SECOND, capacity: 160, lease: { ms: 100 } },
  ],
  long: [
    {
      kind: "token bucket",
      rate: 80,
      period: SECOND,
      capacity: 140,
      maxReserved: 20,
      lease: { ms: 1000 },
    },
    { kind: "token bucket", rate: 120, period: SECOND, capacity: 140, lease: { ms: 300 } },
  ],
  window: [
    {
      kind: "fixed window",
      rate: 80,
      period: 1500,
      start: 0,
      maxReserved: 20,
      lease: { ms: 500 },
    },
    { kind: "fixed window", rate: 120, period: 1500, start: 0, lease: { ms: 200 } },
  ],
} satisfies Record<string, LeasedLimit>;

const NAMES = Object.keys(LEASED) as (keyof typeof LEASED)[];

export function createLeases(
  events: RecordedEvent[],
  { seed, processes, callers }: Pick<Scenario, "seed" | "processes" | "callers">,
): Workload {
  // Few buckets, so that several processes hold blocks of each.
  const ofSeed = createRandom(seed);
  const name = ofSeed.pick(NAMES);
  const uses = ["plain", ofSeed.pick(USES)] as const;
  const shift = ofSeed.below(1e6);
  const begun = new WeakSet<RecordedEvent>();
  return async (caller) => {
    const { member, random, timeline, tally } = caller;
    const limit = LEASED[name];
    const limiter = member.limiter({ [name]: limit[0] });
    // Before its first answer, a process knows no clock but its own.
    while (caller.isOn() && !(await answers(() => limiter.getValue(name)))) await member.sleep(10);
    await new LeaseCaller({
      limiter,
      name,
      limit,
      use: random.pick(uses),
      random,
      callers: (processes * callers.leases) / 2,
      clock: { before: () => timeline.now, after: () => timeline.now },
      // Each seed begins at another phase.
      shift,
      sleep: (ms) => member.sleep(ms),
      isOn: () => caller.isOn(),
      async around(what, call) {
        tally.note(`leased ${what}`);
        return caller.timed(`leased ${what}`, 2000, call);
      },
      failed: (error) => caller.failed(error, "leased"),
      write(event) {
        // An event is written again when it has ended.
        if (!begun.has(event)) events.push(event);
        begun.add(event);
      },
    }).run();
  };
}
