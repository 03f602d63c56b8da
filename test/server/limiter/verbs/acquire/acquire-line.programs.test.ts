/**
 * Random programs of callers who wait, leave and settle, in several processes. In any span, the served
 * callers kept no more tokens than the capacity and the refill, counted at the instants of their turns.
 */
import { expect, it } from "vitest";
import { createRateLimiter, memoryStore } from "../../../../../server/index.js";
import { cases } from "../../../../support/cases.js";
import { createRandom } from "../../../../support/seeded-random.js";

/** A clock that stops at each instant at which a sleep ends. */
function createSteppingClock() {
  let now = Date.UTC(2030, 0, 1);
  const sleepers = new Set<{ until: number; wake(): void }>();
  const rest = async () => {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    clock: () => now,
    async sleep(ms: number, signal?: AbortSignal): Promise<void> {
      await new Promise<void>((resolve, reject) => {
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        });
      });
    },
    async advance(ms: number): Promise<void> {
      const end = now + ms;
      for (;;) {
        await rest();
        const [next] = [...sleepers].sort((a, b) => a.until - b.until);
        if (next === undefined || next.until > end) break;
        now = Math.max(now, next.until);
        sleepers.delete(next);
        next.wake();
      }
      now = end;
    },
  };
}

const CONFIGS = [
  { kind: "token bucket", rate: 10, period: 1000, capacity: 10 },
  { kind: "token bucket", rate: 10, period: 1000, capacity: 4, maxReserved: 6 },
  { kind: "fixed window", rate: 5, period: 500, start: 0 },
] as const;

interface Kept {
  at: number;
  count: number;
}

async function run(seed: number): Promise<{ kept: Kept[]; config: (typeof CONFIGS)[number] }> {
  const random = createRandom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const config = CONFIGS[below(CONFIGS.length)]!;
  const { clock, sleep, advance } = createSteppingClock();
  const store = memoryStore();
  const limiters = Array.from({ length: 1 + below(3) }, () =>
    createRateLimiter({ store, clock, sleep, limits: { one: config } }),
  );
  const kept: Kept[] = [];
  const leaving: AbortController[] = [];
  const calls: Promise<void>[] = [];
  // Reservations of several windows' tokens share an instant.
  const most = config.kind === "fixed window" || below(2) === 0 ? 1 : 4;
  async function call(): Promise<void> {
    const limiter = limiters[below(limiters.length)]!;
    const controller = new AbortController();
    leaving.push(controller);
    const count = 1 + below(most);
    const maxWait = below(3) === 0 ? below(2000) : Infinity;
    const { signal } = controller;
    const actual = below(count + 1);
    const works = below(2) === 0 ? 0 : below(300);
    try {
      const result = await limiter.acquire("one", { count, maxWait, signal });
      const served = { at: clock(), count };
      kept.push(served);
      if (works > 0) await sleep(works);
      await limiter.settle(result, actual);
      // What it used by then, whatever came back.
      served.count = actual;
    } catch (error) {
      if ((error as { kind?: string }).kind !== "RateLimited" && error !== signal.reason)
        throw error;
    }
  }
  for (let step = 0; step < 60; step++) {
    if (below(4) > 0) calls.push(call());
    if (below(4) === 0) leaving.splice(below(leaving.length + 1), 1)[0]?.abort();
    await advance(below(3) === 0 ? below(250) : 0);
  }
  await advance(60_000);
  await Promise.all(calls);
  return { kept, config };
}

it("no span has more than capacity plus refill", async () => {
  let served = 0;
  for (let seed = 1; seed <= cases(300); seed++) {
    const { kept, config } = await run(seed);
    served += kept.length;
    const capacity = "capacity" in config ? config.capacity : config.rate;
    const windows = (at: number) =>
      config.kind === "fixed window" ? Math.floor(at / config.period) : at / config.period;
    for (const { at: from } of kept) {
      for (const { at: to } of kept) {
        if (to < from) continue;
        const inSpan = kept.filter(({ at }) => from <= at && at <= to);
        const sum = inSpan.reduce((tokens, { count }) => tokens + count, 0);
        // A turn is rounded up to a whole ms, so two turns may be a ms too close.
        const slack = config.kind === "fixed window" ? 0 : config.rate / config.period;
        const allowed = capacity + config.rate * (windows(to) - windows(from)) + slack;
        expect(sum, `seed ${seed}, ${from} to ${to}`).toBeLessThanOrEqual(allowed + 1e-6);
      }
    }
  }
  expect(served).toBeGreaterThan(10 * cases(300));
}, 60_000);
