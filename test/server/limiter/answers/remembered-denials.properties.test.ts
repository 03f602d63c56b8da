/** `rememberDenials` never grants what the store would deny, and is too strict for a bounded time. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitConfig,
  type RateLimitResult,
  SECOND,
} from "../../../../server/index.js";
import { cases } from "../../../support/cases.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

const REMEMBER = 5 * SECOND;
const RUNS = { numRuns: cases(1000) };

const anyPolicy = fc.oneof(
  fc.constant({}),
  fc.record({ blockFor: fc.integer({ min: 1, max: 20_000 }) }),
);
const anyConfig: fc.Arbitrary<RateLimitConfig> = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 4 }), anyPolicy)
    .map(([rate, capacity, policy]) => {
      const kind = "token bucket";
      return { kind, rate, period: MINUTE, capacity, maxReserved: 2, ...policy } as const;
    }),
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1000, max: 9000 }), anyPolicy)
    .map(([rate, period, policy]) => {
      const kind = "fixed window";
      return { kind, rate, period, start: 0, capacity: 4, maxReserved: 2, ...policy } as const;
    }),
  fc.constant({
    kind: "fixed window",
    rate: 4,
    period: "month",
    start: 0,
    maxReserved: 2,
  } as const),
);

interface Step {
  act: string;
  count: number;
  ms: number;
  reserve: boolean;
}

const stepOf = (...acts: string[]): fc.Arbitrary<Step> =>
  fc.record({
    act: fc.constantFrom(...Array<string>(10).fill("limit"), "pass", "pass", ...acts),
    count: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(1, 1, 2) },
      { weight: 1, arbitrary: fc.double({ min: 0.01, max: 2, noNaN: true }) },
      { weight: 1, arbitrary: fc.constant(0) },
    ),
    ms: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.constantFrom(1, REMEMBER, 20_000)),
    reserve: fc.constantFrom(false, false, false, true),
  });

function createWorld(config: RateLimitConfig, rememberDenials: number) {
  const clock = createManualClock(Date.UTC(2030, 0, 1));
  const limits = { it: config };
  const store = memoryStore();
  const limiter = createRateLimiter({ store, clock, limits, rememberDenials });
  return { clock, limiter, other: createRateLimiter({ store, clock, limits }) };
}

/** A call that could never pass is an error in every world. */
async function perform(
  { clock, limiter, other }: ReturnType<typeof createWorld>,
  { act, count, ms, reserve }: Step,
  config: RateLimitConfig,
): Promise<RateLimitResult | undefined> {
  const tokens = Math.min(count, config.rate, config.capacity ?? config.rate);
  const larger = { ...config, capacity: 9 };
  if (act === "pass") clock.advance(ms);
  if (act === "step back") clock.advance(-ms);
  if (act === "other takes") await other.limit("it", { count: tokens, reserve });
  if (act === "other gives") await other.refund("it", { count: tokens });
  if (act === "other resets") await other.reset("it");
  if (act === "other's config") await other.limit("it", { config: larger, count: tokens });
  if (act === "charge") await limiter.charge("it", { count: tokens });
  if (act === "refund") await limiter.refund("it", { count: tokens });
  if (act === "reset") await limiter.reset("it");
  if (act === "config") return limiter.limit("it", { config: larger, count: tokens, reserve });
  return act === "limit" ? limiter.limit("it", { count: tokens, reserve }) : undefined;
}

const own = ["charge", "refund", "reset", "config", "step back"];

it("answers as without it, to the ms and the token, where no other process uses the bucket", async () => {
  const schedule = fc.array(stepOf(...own), { minLength: 10, maxLength: 60, size: "max" });
  let known = 0;
  await fc.assert(
    fc.asyncProperty(anyConfig, schedule, async (config, steps) => {
      const worlds = [createWorld(config, 0), createWorld(config, REMEMBER)] as const;
      for (const step of steps) {
        if (step.act === "pass") vi.advanceTimersByTime(step.ms);
        const [plain, given] = [
          await perform(worlds[0], step, config),
          await perform(worlds[1], step, config),
        ];
        const { remembered, ...result } = (given ?? {}) as { remembered?: true };
        if (remembered) known++;
        expect(result).toEqual(plain ?? {});
      }
    }),
    RUNS,
  );
  expect(known).toBeGreaterThan(RUNS.numRuns);
});

it("grants and denies the same calls where other processes only take", async () => {
  const schedule = fc.array(stepOf(...own, "other takes"), {
    minLength: 10,
    maxLength: 60,
    size: "max",
  });
  await fc.assert(
    fc.asyncProperty(anyConfig, schedule, async (config, steps) => {
      const worlds = [createWorld(config, 0), createWorld(config, REMEMBER)] as const;
      for (const step of steps) {
        if (step.act === "pass") vi.advanceTimersByTime(step.ms);
        const plain = await perform(worlds[0], step, config);
        expect((await perform(worlds[1], step, config))?.ok).toBe(plain?.ok);
      }
      expect(await worlds[1].limiter.getValue("it")).toEqual(
        await worlds[0].limiter.getValue("it"),
      );
    }),
    RUNS,
  );
});

it("denies what the row would grant for less than `rememberDenials` after another process gave back", async () => {
  const gives = ["other gives", "other resets", "other's config"];
  const schedule = fc.array(stepOf(...own, "other takes", ...gives), {
    minLength: 10,
    maxLength: 60,
    size: "max",
  });
  let strict = 0;
  await fc.assert(
    fc.asyncProperty(anyConfig, schedule, async (config, steps) => {
      const world = createWorld(config, REMEMBER);
      let gaveAt = -Infinity;
      for (const step of steps) {
        if (step.act === "pass") vi.advanceTimersByTime(step.ms);
        if (gives.includes(step.act)) gaveAt = performance.now();
        const result = await perform(world, step, config);
        if (result?.ok !== false || result.remembered === undefined) continue;
        const { count, reserve } = step;
        const most = Math.min(count, config.rate, config.capacity ?? config.rate);
        const row = await world.other.check("it", { count: most, reserve });
        if (!row.ok || step.act === "config") continue;
        strict++;
        expect(performance.now() - gaveAt).toBeLessThan(REMEMBER);
      }
    }),
    RUNS,
  );
  expect(strict).toBeGreaterThan(0);
});
