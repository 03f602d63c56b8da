/** `settle` without a figure, which a provider has left out: it keeps the estimate, and ends nothing. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../../server/index.js";

const limits = {
  tokens: { kind: "token bucket", rate: 100, period: MINUTE, maxReserved: 100 },
  other: { kind: "fixed window", rate: 100, period: MINUTE },
  shadow: { kind: "token bucket", rate: 1, period: MINUTE, shadow: true },
  credits: { kind: "credits", capacity: 100 },
} as const;

const MISSING = [undefined, null, NaN] as const;

function setUp() {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message), error() {} };
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    clock: createManualClock(),
    logger,
  });
  const left = async (name: keyof typeof limits) => (await limiter.getValue(name)).value;
  return { limiter, warnings, left };
}

describe.each(MISSING)("a use of %s", (missing) => {
  it("keeps the estimate, and a later figure still settles it", async () => {
    const { limiter, left } = setUp();
    const result = await limiter.limit("tokens", { count: 30 });
    expect(await limiter.settle(result, missing)).toEqual({ settled: false });
    expect(await left("tokens")).toBe(70);
    expect(await limiter.settle(result, 12)).toEqual({ settled: true });
    expect(await left("tokens")).toBe(88);
    // What was settled before stays, too.
    expect(await limiter.settle(result, missing)).toEqual({ settled: false });
    expect(await left("tokens")).toBe(88);
  });

  it("keeps what several limits have paid", async () => {
    const { limiter, left } = setUp();
    await limiter.credit("credits", { count: 50 });
    const paid = await limiter.limitFirst(["tokens", "credits"], { count: 120, split: true });
    expect(await limiter.settle(paid, missing)).toEqual({ settled: false });
    expect([await left("tokens"), await left("credits")]).toEqual([0, 30]);
    expect(await limiter.settle(paid, 90)).toEqual({ settled: true });
    expect([await left("tokens"), await left("credits")]).toEqual([10, 50]);
  });

  it("keeps the estimate in a transaction, which is committed", async () => {
    const { limiter, left } = setUp();
    const settled = await limiter.transaction(async ({ limit, settle }) =>
      settle(await limit("tokens", { count: 30 }), missing),
    );
    expect(settled).toEqual({ settled: false });
    expect(await left("tokens")).toBe(70);
  });

  it("does not hide that the result is none that can be settled", async () => {
    const { limiter } = setUp();
    const copy = { ...(await limiter.limit("tokens")) };
    for (const wrong of [copy, {}, await limiter.check("tokens")]) {
      const call = limiter.settle(wrong as never, missing);
      await expect(call).rejects.toMatchObject({ name: "RateLimitInputError", reason: "result" });
    }
  });

  it("is told to the logger once, with the limit", async () => {
    const { limiter, warnings } = setUp();
    for (let call = 0; call < 3; call++) {
      await limiter.settle(await limiter.limit("tokens"), missing);
    }
    await limiter.settle(await limiter.limit("other"), missing);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain(
      `settle() got ${String(missing)} as the use of a call on "tokens", so its estimate stays charged`,
    );
    expect(warnings[1]).toContain('"other"');
  });
});

it("settles nothing of a call that took nothing, and says so", async () => {
  const { limiter, left, warnings } = setUp();
  await limiter.limit("tokens", { count: 30, once: "job" });
  const repeated = await limiter.limit("tokens", { count: 30, once: "job" });
  expect(await limiter.settle(repeated, 5)).toEqual({ settled: false });
  await limiter.limit("shadow");
  const denied = await limiter.limit("shadow");
  expect(await limiter.settle(denied, NaN)).toEqual({ settled: false });
  expect(await left("tokens")).toBe(70);
  // It has no estimate that could be wrong.
  expect(warnings).toEqual([]);
});
