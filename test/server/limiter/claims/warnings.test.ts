/** `warnAt`: each level is crossed once. */
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitWarning,
  SECOND,
} from "../../../../server/index.js";
import { createManualClock } from "../../../../core/testing.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const warnAt = [0.8, 1] as const;
const limits = {
  window: { kind: "fixed window", rate: 10, period: HOUR, start: 0, warnAt },
  bucket: { kind: "token bucket", rate: 60, capacity: 10, period: MINUTE, warnAt },
  owing: { kind: "fixed window", rate: 10, period: HOUR, start: 0, maxReserved: 5, warnAt },
  held: { kind: "fixed window", rate: 10, period: HOUR, start: 0, holds: true, warnAt },
  closing: {
    kind: "fixed window",
    rate: 10,
    period: HOUR,
    start: 0,
    blockFor: [MINUTE, HOUR],
    warnAt,
  },
  remembered: {
    kind: "fixed window",
    rate: 10,
    period: HOUR,
    start: 0,
    rememberDenials: SECOND,
    warnAt,
  },
  leased: {
    kind: "fixed window",
    rate: 100,
    period: HOUR,
    start: 0,
    lease: { ms: SECOND },
    warnAt,
  },
} as const;
const key = "ann";

const levelsOf = (warnings: readonly RateLimitWarning[]) => warnings.map(({ level }) => level);

describe.each(stores)("warnings on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  it.each(["window", "bucket", "owing", "held", "closing", "remembered"] as const)(
    "crosses each level once, with %s",
    async (name) => {
      const at = await setUp();
      for (let call = 1; call <= 12; call++) {
        const limiter = call % 2 ? at.limiter : at.peer;
        await limiter.limit(name, { key });
      }
      const waiting = await at.limiter.warnings(name);
      expect(waiting).toMatchObject([
        { name, key, level: 0.8, used: 8, of: 10, at: at.clock() },
        { name, key, level: 1, used: 10, of: 10, at: at.clock() },
      ]);
      expect(new Set(waiting.map(({ id }) => id)).size).toBe(2);
    },
  );

  it("crosses two levels with one call, and a level with a call for the rest of a lease", async () => {
    const at = await setUp();
    await at.limiter.limit("window", { key, count: 10 });
    expect(levelsOf(await at.limiter.warnings("window", { key }))).toEqual([0.8, 1]);
    for (let call = 0; call < 100; call++) await at.limiter.limit("leased", { key });
    expect(await at.limiter.warnings("leased", { key })).toMatchObject([
      { level: 0.8, used: 80 },
      { level: 1, used: 100 },
    ]);
    expect(await at.limiter.warnings("window", { key: "bob" })).toEqual([]);
  });

  it("crosses a level of a window again in the next window alone", async () => {
    const at = await setUp();
    const { limiter, clock } = at;
    const taken = await limiter.limit("window", { key, count: 9 });
    await limiter.settle(taken, 2);
    await limiter.limit("window", { key, count: 7 });
    expect(levelsOf(await limiter.warnings("window"))).toEqual([0.8]);
    await limiter.reset("window", { key });
    await limiter.limit("window", { key, count: 9 });
    expect(levelsOf(await limiter.warnings("window"))).toEqual([0.8]);
    clock.advance(HOUR);
    await limiter.limit("window", { key, count: 9 });
    expect(levelsOf(await limiter.warnings("window"))).toEqual([0.8, 0.8]);
  });

  it("crosses a level of a bucket again after its use fell below half of the level", async () => {
    const at = await setUp();
    const { limiter, clock } = at;
    await limiter.limit("bucket", { key, count: 9 });
    // 5 are used then: half of level 1, and more than half of level 0.8.
    clock.advance(4 * SECOND);
    await limiter.limit("bucket", { key, count: 5 });
    expect(levelsOf(await limiter.warnings("bucket"))).toEqual([0.8, 1]);
    clock.advance(7 * SECOND);
    for (let call = 0; call < 6; call++) await limiter.limit("bucket", { key });
    expect(levelsOf(await limiter.warnings("bucket"))).toEqual([0.8, 1, 0.8]);
  });

  it("crosses levels by charge, settle, once, hold, reserve, limitAll and limitFirst", async () => {
    const at = await setUp();
    const { limiter } = at;
    const reached = async (name: keyof typeof limits, of: string) =>
      levelsOf(await limiter.warnings(name, { key: of }));
    await limiter.charge("window", { key: "a", count: 9 });
    expect(await reached("window", "a")).toEqual([0.8]);
    await limiter.charge("window", { key: "a", count: 9 });
    expect(await reached("window", "a")).toEqual([0.8, 1]);
    const small = await limiter.limit("window", { key: "b" });
    await limiter.settle(small, 8);
    expect(await reached("window", "b")).toEqual([0.8]);
    for (let time = 0; time < 2; time++) {
      await limiter.limit("window", { key: "c", count: 8, once: "x" });
    }
    expect(await reached("window", "c")).toEqual([0.8]);
    const hold = { for: MINUTE, then: "keep" } as const;
    await limiter.limit("held", { key: "d", count: 8, once: "x", hold });
    await limiter.settle("held", { key: "d", once: "x" }, 1);
    await limiter.limit("held", { key: "d", count: 1, once: "y", hold });
    await limiter.settle("held", { key: "d", once: "y" }, 9);
    expect(await reached("held", "d")).toEqual([0.8, 1]);
    await limiter.limit("owing", { key: "e", count: 12, reserve: true });
    expect(await limiter.warnings("owing", { key: "e" })).toMatchObject([
      { level: 0.8, used: 12, of: 10 },
      { level: 1, used: 12, of: 10 },
    ]);
    await limiter.limitAll([
      { name: "window", key: "f", count: 4 },
      { name: "window", key: "f", count: 4 },
      { name: "bucket", key: "f", count: 8 },
    ]);
    expect(await reached("window", "f")).toEqual([0.8]);
    expect(await reached("bucket", "f")).toEqual([0.8]);
    await limiter.limitFirst([
      { name: "window", key: "f", count: 4 },
      { name: "window", key: "g", count: 8 },
    ]);
    expect(await reached("window", "g")).toEqual([0.8]);
    expect(await reached("window", "f")).toEqual([0.8]);
  });

  it("crosses nothing by a denial, a check, or a call for nothing", async () => {
    const at = await setUp();
    const { limiter } = at;
    await limiter.check("window", { key, count: 9 });
    await limiter.limit("window", { key, count: 7 });
    await limiter.limit("window", { key, count: 4 });
    await limiter.limit("closing", { key, count: 7 });
    await limiter.limit("closing", { key, count: 4 });
    await limiter.limit("window", { key, count: 0 });
    expect(await limiter.warnings("window")).toEqual([]);
    expect(await limiter.warnings("closing")).toEqual([]);
  });
});

it("says the level in denials", async () => {
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
  await limiter.limit("window", { key, count: 9 });
  const denied = limiter.limit("window", { key, count: 2, throws: true });
  await expect(denied).rejects.toMatchObject({
    data: { rateLimit: { name: "window", level: 0.8 } },
  });
  const both = limiter.limitAll(
    [
      { name: "window", key, count: 2 },
      { name: "bucket", key, count: 1 },
    ],
    { throws: true },
  );
  await expect(both).rejects.toMatchObject({
    data: { rateLimit: { denials: [{ name: "window", level: 0.8 }] } },
  });
});
