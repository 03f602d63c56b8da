/**
 * The share of the possible grants that processes with leases give, in virtual time. Calls come at
 * random. The grants are compared with those of a limit without leases that gets the same calls.
 */
import type { RateLimitStore, TokenBucketConfig } from "../../server/index.js";
import { Process } from "./process.js";
import { createRandom } from "./random.js";
import type { StartShipped } from "./shipped.js";
import { Timeline } from "./timeline.js";

export interface AccuracyOptions {
  config: TokenBucketConfig;
  processes: number;
  /** The calls as a multiple of the rate: 1 means as many calls as tokens refill. */
  demand: number;
  calls: number;
  /**
   * How the bucket begins. If it begins full, blocks cost a part of the first burst.
   * @default "empty"
   */
  begins?: "empty" | "full";
  seed?: number;
}

export interface Accuracy {
  calls: number;
  /** How many calls a limit without leases grants. */
  possible: number;
  granted: number;
  share: number;
  /** The number of decisions of the store. */
  decisions: number;
}

/** The delay of one way between a process and the store, ms. */
const DELAY = 1;
/** When calls begin, ms. */
const BEGIN = 10;

export async function measureAccuracy(
  start: StartShipped,
  { config, processes, demand, calls, begins = "empty", seed = 1 }: AccuracyOptions,
): Promise<Accuracy> {
  const { rate, period, capacity = rate } = config;
  const timeline = new Timeline();
  const random = createRandom(seed);
  const hosts = Array.from({ length: processes }, () => {
    return new Process({ timeline, random: random.fork(), clockError: 0 });
  });
  const shipped = hosts.map((host) => start(host.globals()));
  const rows = shipped[0]!.memoryStore();
  let decisions = 0;
  const limiters = shipped.map(({ createRateLimiter }, i) => {
    const store: RateLimitStore = {
      async apply(decided) {
        decisions += decided.length;
        await travel(hosts[i]!);
        const results = await rows.apply(decided);
        await travel(hosts[i]!);
        return results;
      },
    };
    const clock = () => Math.floor(timeline.now);
    return createRateLimiter({ store, clock, limits: { hot: config }, logger: false });
  });

  // From then on, the rate decides the grants, and not the burst.
  const charged = begins === "empty" ? capacity : 0;
  hosts[0]!.read(() => void limiters[0]!.charge("hot", { count: charged }));
  await timeline.run(BEGIN);
  const between = period / (rate * demand);
  let bucket = { value: capacity - charged, at: 0 };
  const accuracy: Accuracy = { calls: 0, possible: 0, granted: 0, share: 0, decisions: 0 };
  let at = BEGIN;
  for (let i = 0; i < calls; i++) {
    at += -Math.log(1 - random.next()) * between;
    const value = Math.min(capacity, bucket.value + ((at - bucket.at) * rate) / period);
    const isPossible = value >= 1;
    bucket = { value: isPossible ? value - 1 : value, at };
    accuracy.calls++;
    if (isPossible) accuracy.possible++;
    const index = random.below(processes);
    timeline.plan(at - BEGIN, () => {
      hosts[index]!.read(() => {
        void limiters[index]!.limit("hot").then(({ ok }) => ok && accuracy.granted++);
      });
    });
  }
  await timeline.run(at + 10_000);
  accuracy.decisions = decisions;
  accuracy.share = accuracy.granted / accuracy.possible;
  return accuracy;

  function travel(host: Process): Promise<void> {
    return new Promise((resolve) => timeline.plan(DELAY, () => host.read(resolve)));
  }
}
