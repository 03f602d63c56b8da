import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../../server/index.js";

it("forgets the id of a call whose tokens came back, also where a ms passes in its decision", async () => {
  let now = 1e12;
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => now++,
    limits: { bucket: { kind: "token bucket", rate: 6, period: MINUTE } },
  });
  const call = () => limiter.limit("bucket", { once: "id" });
  const failed = await call();
  expect(await call()).toMatchObject({ repeated: true });
  await limiter.settle(failed, 0);
  // Its work was not done, so the next try is a first one.
  expect(await call()).not.toHaveProperty("repeated");
  expect(await call()).toMatchObject({ repeated: true });
});

/** The fractions that say how a hold has ended. A clock with microseconds tells them by chance. */
const FRACTIONS = [1, 3, 5, 7].map((part) => part / 1024);

describe.each(["limiter", "store"])("a clock of the %s with fractions of a ms", (given) => {
  function open(now: () => number) {
    const store = memoryStore();
    return createRateLimiter({
      ...(given === "limiter" ? { store, clock: now } : { store: { ...store, clock: now } }),
      limits: { bucket: { kind: "token bucket", rate: 6, period: MINUTE, holds: true } },
    });
  }

  it.each(FRACTIONS)("charges an id once (%d)", async (fraction) => {
    const limiter = open(() => 1e12 + fraction);
    await limiter.limit("bucket", { once: "id" });
    expect(await limiter.limit("bucket", { once: "id" })).toMatchObject({ repeated: true });
    const hold = { for: MINUTE, then: "keep" } as const;
    await limiter.limit("bucket", { count: 2, once: "job", hold });
    expect(await limiter.holds("bucket")).toMatchObject([{ until: 1e12 + MINUTE }]);
    expect(await limiter.settle("bucket", { once: "job" }, 1)).toMatchObject({ settled: true });
    expect((await limiter.getValue("bucket")).value).toBe(4);
  });
});
