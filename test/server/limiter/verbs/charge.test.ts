/** `charge`: records use that has already happened, if need be into debt. */
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  type DecisionEvent,
  memoryStore,
  MINUTE,
  SECOND,
} from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  bucket: { kind: "token bucket", rate: 60, period: MINUTE },
  strict: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 0 },
  window: { kind: "fixed window", rate: 10, period: MINUTE, start: 0, maxReserved: 5 },
  spread: { kind: "token bucket", rate: 80, period: MINUTE, shards: 4, maxReserved: 8 },
  slow: { kind: "token bucket", rate: 1, period: 365 * DAY },
  closing: { kind: "token bucket", rate: 6, period: MINUTE, blockFor: MINUTE },
} as const;

describe.each(stores)("charge on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it.each(["bucket", "strict", "window"] as const)(
    "goes into debt whatever maxReserved is, and calls pass exactly when it is repaid, with %s",
    async (name) => {
      const { value, retryAfter } = await at.limiter.charge(name, { count: 175 });
      expect(value).toBe(name === "window" ? -165 : -115);
      const denied = await at.limiter.limit(name, { count: 3 });
      expect(denied).toMatchObject({ ok: false, value });
      const wait = denied.retryAfter!;
      expect(wait).toBeGreaterThan(name === "window" ? retryAfter! - 1 : retryAfter!);
      at.clock.advance(retryAfter! - 1);
      expect((await at.limiter.getValue(name)).value).toBeLessThan(0);
      at.clock.advance(1);
      expect((await at.limiter.getValue(name)).value).toBeGreaterThanOrEqual(0);
      at.clock.advance(wait - retryAfter! - 1);
      expect(await at.limiter.check(name, { count: 3 })).toMatchObject({
        ok: false,
        retryAfter: 1,
      });
      at.clock.advance(1);
      expect((await at.limiter.limit(name, { count: 3 })).ok).toBe(true);
    },
  );

  it("spreads a debt over all shards, so that no call gets around it", async () => {
    const charged = await at.limiter.charge("spread", { count: 100 });
    expect(charged).toEqual({ value: -20, retryAfter: 15 * SECOND });
    for (let i = 0; i < 20; i++) {
      expect(await at.peer.limit("spread")).toMatchObject({ ok: false });
    }
    expect((await at.limiter.getValue("spread")).value).toBe(-20);
    at.clock.advance(15 * SECOND + 2 * SECOND);
    for (let i = 0; i < 2; i++) await at.limiter.limit("spread");
    expect((await at.limiter.getValue("spread")).value).toBeGreaterThanOrEqual(0);
  });

  it("loses no charge of two servers at the same time", async () => {
    for (const name of ["bucket", "spread"] as const) {
      const full = (await at.limiter.getValue(name)).value;
      const servers = [at.limiter, at.peer];
      await Promise.all(
        Array.from({ length: 60 }, (__, i) => servers[i % 2]!.charge(name, { count: 2 })),
      );
      expect((await at.limiter.getValue(name)).value).toBeCloseTo(full - 120, 6);
    }
  });

  it("commits and rolls back with a transaction, and with one of the caller", async () => {
    await at.limiter.transaction(({ charge }) => charge("bucket", { count: 70 }));
    const stopped = at.limiter.transaction(async ({ charge }) => {
      await charge("bucket", { count: 70 });
      throw new Error("stop");
    });
    await expect(stopped).rejects.toThrow("stop");
    expect((await at.limiter.getValue("bucket")).value).toBe(-10);
  });

  it("of nothing writes no row, and leaves a closed bucket as it is", async () => {
    for (const name of ["bucket", "window", "spread"] as const) {
      await at.limiter.charge(name, { count: 0 });
      expect((await at.limiter.list(name)).items).toEqual([]);
    }
    await at.limiter.limit("closing", { count: 6 });
    expect(await at.limiter.limit("closing")).toMatchObject({ ok: false, retryAfter: 70 * SECOND });
    at.clock.advance(MINUTE);
    expect(await at.limiter.charge("closing", { count: 0 })).toEqual({ value: 0 });
    expect(await at.limiter.limit("closing")).toMatchObject({ ok: false, retryAfter: 10 * SECOND });
  });

  it("does not forgive a part of a debt that is larger than a charge may leave", async () => {
    await at.limiter.limit("slow", { count: 100_000, reserve: true });
    const owed = (await at.limiter.getValue("slow")).value;
    const { value } = await at.limiter.charge("slow", { count: 1 });
    expect(value).toBeLessThanOrEqual(owed);
  });

  it("rejects what more than 71,000 years could not refill, and takes nothing", async () => {
    const call = at.limiter.charge("slow", { count: 72_000 });
    await expect(call).rejects.toThrow("would take more than 71,000 years to refill");
    await expect(call).rejects.toMatchObject({ name: "RateLimitInputError" });
    expect((await at.limiter.getValue("slow")).value).toBe(1);
    // Charges that are valid one by one add up to no more than that.
    for (let i = 0; i < 3; i++) await at.limiter.charge("slow", { count: 70_000 });
    expect(await at.limiter.check("slow")).toMatchObject({ ok: false });
    at.clock.advance(71_500 * 365 * DAY);
    expect((await at.limiter.limit("slow")).ok).toBe(true);
  });
});

describe("charge", () => {
  it("takes 1 token by default, and reports to onDecision", async () => {
    const events: DecisionEvent[] = [];
    const limiter = createRateLimiter({
      store: memoryStore(),
      clock: createManualClock(),
      limits,
      onDecision: (event) => void events.push(event),
    });
    expect(await limiter.charge("bucket", { key: "ada" })).toEqual({ value: 59 });
    expect(await limiter.charge("bucket", { key: "ada", count: 0 })).toEqual({ value: 59 });
    expect(events.map(({ action, key, count }) => [action, key, count])).toEqual([
      ["charge", "ada", 1],
      ["charge", "ada", 0],
    ]);
  });
});
