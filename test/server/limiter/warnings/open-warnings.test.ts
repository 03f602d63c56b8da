/** Warnings are told until a listener has resolved, whatever other listeners do. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitWarning,
} from "../../../../server/index.js";

const warnAt = [0.8, 1] as const;
const limits = {
  window: { kind: "fixed window", rate: 10, period: HOUR, start: 0, warnAt },
} as const;
const key = "ann";

describe("telling of warnings", () => {
  const setUp = () => {
    const clock = createManualClock(1_900_000_000_000);
    const store = memoryStore();
    const open = (options: { waitUntil?: (promise: Promise<unknown>) => void } = {}) =>
      createRateLimiter({ store, limits, clock, logger: false, ...options });
    return { clock, open };
  };
  /** The warnings that a limiter has told so far. A listener that hangs never resolves. */
  const toldBy = (
    limiter: ReturnType<ReturnType<typeof setUp>["open"]>,
    hangs: (warning: RateLimitWarning) => boolean = () => false,
  ) => {
    const told: RateLimitWarning[] = [];
    limiter.onWarning((warning) => {
      told.push(warning);
      return hangs(warning) ? new Promise(() => {}) : undefined;
    });
    return told;
  };
  const levelsOf = (warnings: readonly RateLimitWarning[]) => warnings.map(({ level }) => level);

  it("tells a level that was crossed before there were listeners, once for all limiters", async () => {
    const { open } = setUp();
    const limiter = open();
    await limiter.limit("window", { key, count: 8 });
    const told = [toldBy(limiter), toldBy(open())];
    await expect.poll(() => limiter.warnings("window")).toEqual([]);
    expect(told.flat()).toMatchObject([{ level: 0.8, key }]);
    await limiter.limit("window", { key, count: 2 });
    await expect.poll(() => limiter.warnings("window")).toEqual([]);
    expect(levelsOf(told.flat())).toEqual([0.8, 1]);
  });

  it("tells a warning again with the same id, when its listener has failed or was killed", async () => {
    const { open, clock } = setUp();
    const failing = open();
    const ids: string[] = [];
    const stop = failing.onWarning(({ id }) => {
      ids.push(id);
      return Promise.reject(new Error("no mail"));
    });
    const killed = open();
    const told = toldBy(killed, () => true);
    await failing.limit("window", { key, count: 8 });
    await expect.poll(() => ids).toHaveLength(1);
    stop();
    clock.advance(MINUTE);
    await killed.prune();
    await expect.poll(() => told).toMatchObject([{ id: ids[0] }]);
  });

  it("tells later warnings although a listener never resolves", async () => {
    const { open } = setUp();
    const limiter = open();
    const told = toldBy(limiter, (warning) => warning.key === "slow");
    await limiter.limit("window", { key: "slow", count: 8 });
    await expect.poll(() => told).toHaveLength(1);
    for (const later of ["ann", "bob"]) await limiter.limit("window", { key: later, count: 8 });
    await expect.poll(() => told.map((each) => each.key)).toEqual(["slow", "ann", "bob"]);
    await expect.poll(() => limiter.warnings("window")).toMatchObject([{ key: "slow" }]);
  });

  it("tells the second level of a call although the listener of the first never resolves", async () => {
    const { open, clock } = setUp();
    const limiter = open();
    const told = toldBy(limiter, ({ level }) => level === 0.8);
    await limiter.limit("window", { key, count: 10 });
    await expect.poll(() => limiter.warnings("window")).toMatchObject([{ level: 0.8 }]);
    expect(levelsOf(told)).toEqual([0.8, 1]);
    clock.advance(MINUTE);
    await limiter.prune();
    await expect.poll(() => levelsOf(told)).toEqual([0.8, 1, 0.8]);
  });

  it("tells a hundred warnings at a time, and more when listeners resolve or take a minute", async () => {
    const { open, clock } = setUp();
    const limiter = open();
    const ends: (() => void)[] = [];
    for (let i = 0; i < 250; i++) await limiter.limit("window", { key: `key ${i}`, count: 8 });
    const told: RateLimitWarning[] = [];
    limiter.onWarning((warning) => {
      told.push(warning);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    await expect.poll(() => told).toHaveLength(100);
    await limiter.limit("window", { key, count: 8 });
    await limiter.warnings("window");
    expect(told).toHaveLength(100);
    ends[0]!();
    await expect.poll(() => told).toHaveLength(200);
    clock.advance(MINUTE);
    await limiter.prune();
    await expect.poll(() => new Set(told.map(({ id }) => id)).size).toBe(251);
  });

  it("lets the host wait until all that was crossed is told", async () => {
    const { open } = setUp();
    const crossing = open();
    for (let i = 0; i < 250; i++) await crossing.limit("window", { key: `key ${i}`, count: 8 });
    const waited: Promise<unknown>[] = [];
    const limiter = open({ waitUntil: (promise) => void waited.push(promise) });
    const told = toldBy(limiter);
    await waited[0];
    expect(told).toHaveLength(250);
    expect(await limiter.warnings("window")).toEqual([]);
  });
});
