/** A page's prediction of `limitFirst` is the server's later answer. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { predict } from "../../client/prediction.js";
import { predictFirst, type PredictableLimit } from "../../client/predict-first.js";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitSnapshot,
  SECOND,
} from "../../server/index.js";
import { cases } from "../support/cases.js";

const limits = {
  plan: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 },
  slow: { kind: "token bucket", rate: 1 / 3, period: SECOND, capacity: 7 },
  daily: { kind: "fixed window", rate: 8, period: HOUR, start: 0, capacity: 12 },
  credits: { kind: "credits" },
} as const;
type Name = keyof typeof limits;

/** As `useRateLimit` gives it, on a page whose clock is `offset` ms behind the server's. */
function shownOf(snapshot: RateLimitSnapshot, offset: number): PredictableLimit {
  return { check: (ts = 0, count = 1) => predict(snapshot, offset, ts, count) };
}

async function setUp() {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
  return {
    clock,
    limiter,
    /** The page of a visitor, and what it knows. */
    async page(names: readonly Name[], offset = 0) {
      const snapshots = await limiter.snapshots(names.map((name) => ({ name })));
      const known = names.map((name, i) => [name, shownOf(snapshots[i]!, offset)] as const);
      return Object.fromEntries(known) as Record<Name, PredictableLimit>;
    },
  };
}

describe("predictFirst", () => {
  it("tells who pays, and when one of them can", async () => {
    const { limiter, page, clock } = await setUp();
    await limiter.credit("credits", { count: 4 });
    const names = ["plan", "credits"] as const;
    const at = clock();
    expect(predictFirst(await page(names), { count: 6, at })).toEqual({
      status: { ok: true, retryAt: undefined },
      paid: [{ name: "plan", count: 6 }],
    });
    await limiter.limit("plan", { count: 8 });
    expect(predictFirst(await page(names), { count: 4, at })).toMatchObject({
      paid: [{ name: "credits", count: 4 }],
    });
    expect(predictFirst(await page(names), { count: 6, at })).toEqual({
      status: { ok: false, retryAt: at + 4 * SECOND },
      paid: [{ name: "plan", count: 6 }],
    });
    expect(predictFirst(await page(names), { count: 6, at, split: true })).toEqual({
      status: { ok: true, retryAt: undefined },
      paid: [
        { name: "plan", count: 2 },
        { name: "credits", count: 4 },
      ],
    });
    expect(predictFirst(await page(names), { count: { plan: 3, credits: 1 }, at })).toMatchObject({
      paid: [{ name: "credits", count: 1 }],
    });
  });

  it("says that no wait helps where credits are used up", async () => {
    const { page, clock } = await setUp();
    const never = { status: { ok: false, retryAt: Infinity }, paid: [] };
    expect(predictFirst(await page(["credits"]), { at: clock() })).toEqual(never);
    const both = await page(["plan", "credits"]);
    expect(predictFirst(both, { at: clock(), count: 11, split: true })).toEqual(never);
  });

  it("lets a limit that is exempt pay for everything", () => {
    const exempt = (name: "plan" | "credits") => {
      const config = { ...limits[name], shadow: true } as RateLimitSnapshot["config"];
      return shownOf({ name, value: 0, ts: 1e12, config, now: 1e12 }, 0);
    };
    const plan = shownOf({ name: "plan", value: 10, ts: 1e12, config: limits.plan, now: 1e12 }, 0);
    const options = { at: 1e12, count: 20, split: true } as const;
    expect(predictFirst({ plan: exempt("plan"), credits: exempt("credits") }, options)).toEqual({
      status: { ok: true, retryAt: undefined },
      paid: [{ name: "plan", count: 20 }],
    });
    expect(predictFirst({ plan, credits: exempt("credits") }, options)?.paid).toEqual([
      { name: "plan", count: 10 },
      { name: "credits", count: 10 },
    ]);
  });

  it("knows nothing while a limit that may pay is unknown", async () => {
    const { page, clock } = await setUp();
    const { plan } = await page(["plan"]);
    const credits: PredictableLimit = { check: () => undefined };
    const at = clock();
    expect(predictFirst({ plan, credits }, { at, count: 3 })?.status.ok).toBe(true);
    expect(predictFirst({ plan, credits }, { at, count: 30 })).toBeUndefined();
    expect(predictFirst({ plan, credits }, { at, count: 3, split: true })).toBeUndefined();
  });

  it("is the server's answer, now and at the very ms that it predicts", async () => {
    const anyName = fc.constantFrom<Name>("plan", "slow", "daily", "credits");
    const anyCase = fc.record({
      names: fc.uniqueArray(anyName, { minLength: 1, maxLength: 4 }),
      count: fc.integer({ min: 1, max: 20 }),
      split: fc.boolean(),
      credits: fc.integer({ min: 0, max: 12 }),
      used: fc.record({
        plan: fc.integer({ min: 0, max: 30 }),
        slow: fc.integer({ min: 0, max: 70 }),
        daily: fc.integer({ min: 0, max: 16 }),
      }),
      elapsed: fc.integer({ min: 0, max: 10 * SECOND }),
      later: fc.integer({ min: 0, max: 10 * SECOND }),
      offset: fc.integer({ min: -HOUR, max: HOUR }),
    });
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ names, count, split, credits, used, ...times }) => {
        const { limiter, page, clock } = await setUp();
        clock.advance(times.elapsed);
        await limiter.credit("credits", { count: credits });
        for (const name of ["plan", "slow", "daily"] as const) {
          await limiter.charge(name, { count: used[name] / (name === "daily" ? 1 : 3) });
        }
        const shown = await page(names, times.offset);
        clock.advance(times.later);
        const at = clock() - times.offset;
        const predicted = predictFirst(shown, { count, split, at })!;
        const call = () => limiter.limitFirst(names, { count, split });
        const answer = await call().catch(() => undefined);
        // A count that no wait could satisfy is an error, and never on the page.
        if (answer === undefined) {
          expect(predicted.status.retryAt).toBe(Infinity);
          return;
        }
        expect(answer.ok).toBe(predicted.status.ok);
        if (answer.ok) {
          expect(answer.paid).toEqual(predicted.paid);
          return;
        }
        const { retryAt } = predicted.status;
        if (retryAt === Infinity) {
          expect(answer.retryAfter).toBe(8e15);
          return;
        }
        expect(retryAt! - at).toBe(answer.retryAfter);
        clock.advance(answer.retryAfter - 1);
        expect((await call()).ok).toBe(false);
        clock.advance(1);
        const granted = await call();
        expect(granted.ok && granted.paid).toEqual(predicted.paid);
      }),
      { numRuns: cases(1500) },
    );
  });
});
