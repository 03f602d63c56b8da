/**
 * The promise of a limit holds under all policies: in any span of time, the calls that were granted
 * got at most the capacity, the refill, and what was charged. A closed bucket grants nothing.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore, type RateLimitResult } from "../../server/index.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { cases } from "../support/cases.js";

const START = Date.UTC(2030, 0, 1);
const PERIOD = 12;

const ACTS = ["limit", "reserve", "charge", "settle", "refund", "give up", "undone"] as const;

interface Step {
  /** Ms since the step before. */
  ms: number;
  act: (typeof ACTS)[number];
  count: number;
  /** Chooses the call to settle or to give back. */
  which: number;
}

interface Schedule {
  kind: "token bucket" | "fixed window";
  rate: number;
  capacity: number;
  maxReserved: number;
  blockFor: number | undefined;
  shards: number | undefined;
  steps: Step[];
}

function anySchedule(kind: Schedule["kind"], many: boolean): fc.Arbitrary<Schedule> {
  return fc.record({
    kind: fc.constant(kind),
    rate: fc.integer({ min: 1, max: 4 }),
    capacity: fc.integer({ min: 4, max: 8 }),
    maxReserved: fc.integer({ min: 0, max: 8 }),
    blockFor: many
      ? fc.constant(undefined)
      : fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
    shards: many ? fc.integer({ min: 2, max: 4 }) : fc.constant(undefined),
    steps: fc.array(
      fc.record({
        ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 14 })),
        act: fc.constantFrom("limit", "limit", ...ACTS),
        count: fc.integer({ min: 0, max: many ? 2 : 4 }),
        which: fc.nat(),
      }),
      { minLength: 6, maxLength: 40 },
    ),
  });
}

/** Tokens of one call, at the instant at which its work may be done. */
interface Use {
  at: number;
  count: number;
}

async function replay({ steps, shards, blockFor, ...rest }: Schedule) {
  const clock = createManualClock(START);
  const config = {
    ...rest,
    period: PERIOD,
    ...(rest.kind === "fixed window" && { start: START }),
    ...(shards !== undefined && { shards }),
    ...(blockFor !== undefined && { blockFor }),
  } as RateLimitConfig;
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const limits = { limit: config };
  const limiter = createRateLimiter({ store: memoryStore(), clock, random, limits });
  const calls: (Use & { result: RateLimitResult; takenAt: number; charged: Use[] })[] = [];
  const charges: Use[] = [];
  const closings: { from: number; until: number }[] = [];

  async function take(count: number, reserve: boolean): Promise<boolean> {
    const isOpen = (await limiter.getValue("limit")).value >= 0;
    const wait = (await limiter.check("limit", { count, reserve })).retryAfter ?? 0;
    const result = await limiter.limit("limit", { count, reserve });
    const now = clock();
    if (result.ok) {
      calls.push({ at: now + (result.retryAfter ?? 0), takenAt: now, count, result, charged: [] });
    } else if (blockFor !== undefined && isOpen && result.retryAfter > Math.max(wait, blockFor)) {
      closings.push({ from: now, until: now + blockFor });
    }
    return result.ok;
  }

  /** Tokens that a call keeps: its own, and those that were charged for it later. */
  const keptBy = ({ count, charged }: (typeof calls)[number]) =>
    charged.reduce((sum, charge) => sum + charge.count, count);

  function keep(call: (typeof calls)[number], count: number): void {
    const more = count - keptBy(call);
    if (more > 0) call.charged.push({ at: clock(), count: more });
    let unused = -more;
    for (const use of [...call.charged.toReversed(), call]) {
      const given = Math.max(0, Math.min(unused, use.count));
      use.count -= given;
      unused -= given;
    }
  }

  for (const { ms, act, count, which } of steps) {
    clock.advance(ms);
    // The work of a reservation that has begun cannot be undone.
    const open = calls.filter(({ at, takenAt }) => at === takenAt || clock() < at);
    const begun = calls.filter(({ at }) => at <= clock());
    const some = act === "give up" ? open : begun;
    const call = some[which % some.length];
    if (act === "charge") {
      await limiter.charge("limit", { count });
      charges.push({ at: clock(), count });
    } else if (act === "limit" || act === "reserve") {
      // A reservation of several windows or shards may share its turn with calls of that instant.
      const isReserved = act === "reserve" && shards === undefined;
      const most = rest.kind === "fixed window" ? 1 : rest.capacity;
      const wanted = isReserved ? Math.min(most, 3 * count) : count;
      if (wanted > 0) await take(wanted, isReserved);
    } else if (call !== undefined && act === "settle") {
      await limiter.settle(call.result, count);
      keep(call, count);
    } else if (call !== undefined && act === "refund") {
      await limiter.refund("limit", { count, result: call.result });
      keep(call, Math.max(0, keptBy(call) - count));
    } else if (call !== undefined && act === "undone") {
      const undone = limiter.transaction(async (scope) => {
        const within = await scope.limit("limit", { count: 1 });
        await scope.settle(call.result, 2 * count);
        await limiter.settle(call.result, count);
        await scope.refund("limit", { count, result: call.result });
        throw within;
      });
      const within = (await undone.catch((thrown: unknown) => thrown)) as RateLimitResult;
      await limiter.refund("limit", { result: within });
      keep(call, count);
    } else if (call !== undefined) {
      await limiter.settle(call.result, 0);
      keep(call, 0);
    }
  }
  while (await take(1, false));
  for (const { charged } of calls) charges.push(...charged);
  return { calls, charges, closings };
}

function expectNoExcess(
  { calls, charges, closings }: Awaited<ReturnType<typeof replay>>,
  { kind, rate, capacity, shards = 1 }: Schedule,
): void {
  const periods = (ms: number) =>
    kind === "token bucket" ? (ms - START) / PERIOD : Math.floor((ms - START) / PERIOD);
  const sumOf = (uses: readonly Use[], from: number, to: number) =>
    uses.reduce((sum, { at, count }) => sum + (from <= at && at <= to ? count : 0), 0);
  // Turns are rounded up to a whole ms, so two of them may be a ms too close.
  const slack = kind === "token bucket" ? (shards * rate) / PERIOD : 0;
  for (const { at: from } of calls) {
    for (const { at: to } of calls) {
      if (to < from) continue;
      const granted = sumOf(calls, from, to);
      const refill = rate * (periods(to) - periods(from));
      const allowed = capacity + refill + sumOf(charges, from, to) + slack;
      if (granted > allowed + 1e-6) expect.fail(`${granted} from ${from} to ${to}, not ${allowed}`);
    }
  }
  for (const { from, until } of closings) {
    const early = calls.find(({ at, takenAt }) => from < takenAt && at < until);
    if (early !== undefined) expect.fail(`${early.at} is before the end ${until}`);
  }
}

describe("with charges, settlements, refunds and blocks, the granted calls", () => {
  it.each([
    ["token bucket", false],
    ["fixed window", false],
    ["token bucket", true],
    ["fixed window", true],
  ] as const)(
    "never exceed what there is, of a %s (in shards: %s)",
    async (kind, many) => {
      await fc.assert(
        fc.asyncProperty(anySchedule(kind, many), async (schedule) => {
          expectNoExcess(await replay(schedule), schedule);
        }),
        { numRuns: cases(1000) },
      );
    },
    60_000,
  );
});
