/**
 * The share of its rate that a leased limit grants. Processes call at random in virtual time, with random
 * round trips. The same calls without a lease are the measure.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitConfig,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { createRandom } from "../../../simulation/random.js";

interface Load {
  config: RateLimitConfig;
  processes: number;
  /** Calls of all processes, as a part of the rate. */
  load: number;
  /** How long they call, ms. */
  duration: number;
}

interface Grant {
  calledAt: number;
  answeredAt: number;
}

/** The mean of one way of a round trip, ms. */
const DELAY = 0.5;

afterEach(() => {
  vi.restoreAllMocks();
});

async function run({ config, processes, load, duration }: Load) {
  const clock = createManualClock();
  const begin = clock();
  // All processes have the same clocks here.
  vi.spyOn(performance, "now").mockImplementation(() => clock() - begin);
  vi.spyOn(Date, "now").mockImplementation(clock);
  const random = createRandom(1);
  const wait = (mean: number) => -Math.log(1 - random.next()) * mean;
  const planned = new Map<number, (() => void)[]>();
  /** By tenths of a ms; never in the present one. */
  const plan = (ms: number, step: () => void) => {
    const at = Math.round(clock() * 10) + 1 + Math.floor(ms * 10);
    const there = planned.get(at);
    if (there === undefined) planned.set(at, [step]);
    else there.push(step);
  };
  const inner = memoryStore();
  let trips = 0;
  const store: RateLimitStore = {
    apply: (decisions, call) =>
      new Promise((resolve, reject) => {
        trips++;
        plan(wait(DELAY), () => {
          inner.apply(decisions, call).then((results) => {
            plan(wait(DELAY), () => resolve(results));
          }, reject);
        });
      }),
  };
  // Without the burst of a full bucket, which hides what is lost later.
  const { lease: _, ...unleased } = config;
  const { rate, capacity = rate } = unleased;
  await createRateLimiter({ store: inner, clock, limits: { hot: unleased } }).charge("hot", {
    count: capacity,
  });
  const gap = (config.period as number) * (processes / (config.rate * load));
  const grants: Grant[] = [];
  let calls = 0;
  for (let i = 0; i < processes; i++) {
    const limiter = createRateLimiter({ store, clock, timeout: Infinity, limits: { hot: config } });
    const next = () => {
      if (clock() >= begin + duration) return;
      plan(wait(gap), next);
      calls++;
      const calledAt = clock();
      void limiter.limit("hot").then(({ ok }) => {
        if (ok) grants.push({ calledAt, answeredAt: clock() });
      });
    };
    plan(wait(gap), next);
  }
  for (let at = begin * 10; planned.size > 0; at++) {
    const due = planned.get(at);
    if (due === undefined) continue;
    planned.delete(at);
    clock.set(at / 10);
    for (const step of due) {
      step();
      for (let turn = 0; turn < 12; turn++) await Promise.resolve();
    }
  }
  return { calls, trips, grants };
}

/** By how many tokens the calls within some span exceed what the limit allows in it. */
function excess({ rate, period, capacity = rate }: RateLimitConfig, grants: readonly Grant[]) {
  const perMs = rate / (period as number);
  const byAnswer = [...grants].sort((a, b) => a.answeredAt - b.answeredAt);
  let most = -Infinity;
  // The largest excess of a span that ends with this answer: begins with a call, as in Kadane's sum.
  for (let from = 0; from < byAnswer.length; from += 50) {
    const { calledAt } = byAnswer[from]!;
    let granted = 0;
    for (const grant of byAnswer.slice(from)) {
      if (grant.calledAt < calledAt) continue;
      granted++;
      most = Math.max(most, granted - capacity - perMs * (grant.answeredAt - calledAt));
    }
  }
  return most;
}

const hot = { kind: "token bucket", rate: 1000, period: SECOND } as const;

describe.each<[string, Omit<Load, "load">]>([
  [
    "three processes",
    { config: { ...hot, lease: { ms: 100 } }, processes: 3, duration: 10 * SECOND },
  ],
  [
    "three processes with a long lease",
    { config: { ...hot, lease: { ms: 500 } }, processes: 3, duration: 10 * SECOND },
  ],
  [
    "twenty processes",
    { config: { ...hot, lease: { ms: 200 } }, processes: 20, duration: 10 * SECOND },
  ],
  [
    "three processes on a slower limit",
    { config: { ...hot, rate: 100, lease: { ms: 500 } }, processes: 3, duration: 30 * SECOND },
  ],
  [
    "three processes on a fixed window",
    {
      config: { ...hot, kind: "fixed window", start: 0, lease: { ms: 100 } },
      processes: 3,
      duration: 10 * SECOND,
    },
  ],
])("%s", (_, given) => {
  it.each([0.5, 1, 1.5])(
    "grant at least 94 percent at %s of the rate, and never too much",
    async (load) => {
      const { lease: __, ...config } = given.config;
      const leased = await run({ ...given, load });
      const without = await run({ ...given, load, config });
      // Other calls, because round trips that are saved change what is drawn. So parts are compared.
      const part = leased.grants.length / leased.calls / (without.grants.length / without.calls);
      expect(part).toBeGreaterThan(0.94);
      if (config.kind === "token bucket") expect(excess(config, leased.grants)).toBeLessThan(1e-6);
      expect(leased.trips).toBeLessThan(1.02 * leased.calls);
    },
  );
});

it("loses nothing of a slow limit with many processes, which never lease", async () => {
  const config = { kind: "token bucket", rate: 10, period: MINUTE } as const;
  const load = { processes: 20, load: 1, duration: MINUTE };
  const leased = await run({ ...load, config: { ...config, lease: { ms: 1000 } } });
  expect(leased).toEqual(await run({ ...load, config }));
});
