/** The end of a hold that meets a failure of the store. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { limitModel } from "../../../../server/ai/index.js";
import {
  createRateLimiter,
  DAY,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
  type RateLimitStore,
} from "../../../../server/index.js";

const limits = {
  tokens: { kind: "fixed window", rate: 1000, period: DAY, start: 0, holds: true },
} as const;
const key = "ada";
const of = { key, once: "job" } as const;
const hold = { for: MINUTE, then: "release" } as const;

/** @param loses whether what fails has taken effect, and only its answer is lost. */
function setUp(loses: boolean = false) {
  const store = memoryStore();
  const at = { failures: 0, pauses: [] as number[], warnings: [] as string[] };
  const apply: RateLimitStore["apply"] = async (...args) => {
    const isFailing = at.failures > 0;
    if (isFailing) at.failures--;
    const results = isFailing && !loses ? undefined : await store.apply(...args);
    if (isFailing) throw new RateLimitStoreError("the database restarts");
    return results!;
  };
  const limiter = createRateLimiter({
    store: { ...store, apply },
    limits,
    clock: createManualClock(20_000 * DAY),
    sleep: async (ms) => void at.pauses.push(ms),
    random: () => 0,
    logger: { warn: (message: string) => void at.warnings.push(message), error() {} },
  });
  const state = async () => {
    const { value, held } = await limiter.getValue("tokens", { key });
    return [value, held];
  };
  const take = () => limiter.limit("tokens", { ...of, count: 300, hold });
  return Object.assign(at, { limiter, state, take });
}

describe.each([
  ["that was not done", false],
  ["whose answer is lost", true],
] as const)("the end of a hold %s", (_, loses) => {
  it("is tried again, and happens once", async () => {
    const at = setUp(loses);
    const result = await at.take();
    at.failures = 3;
    await at.limiter.settle(result, 50);
    expect(at.pauses).toHaveLength(3);
    expect(await at.state()).toEqual([950, 0]);
    await at.limiter.forget(key);
    type Result = typeof result;
    for (const end of [
      () => at.limiter.settle("tokens", of, 0),
      () => at.limiter.release("tokens", of),
      (taken: Result) => at.limiter.refund("tokens", { key, count: 300, result: taken }),
    ]) {
      const taken = await at.take();
      at.failures = 2;
      await end(taken);
      expect(await at.state()).toEqual([1000, 0]);
    }
  });
});

it("fails where the store stays down, after a bounded number of tries", async () => {
  const at = setUp();
  const result = await at.take();
  at.failures = Infinity;
  await expect(at.limiter.settle(result, 50)).rejects.toThrow(/restarts/);
  expect(at.pauses).toEqual([50, 100, 200, 400, 800, 1600]);
  at.failures = 0;
  expect(await at.state()).toEqual([700, 300]);
  await at.limiter.settle(result, 50);
  expect(await at.state()).toEqual([950, 0]);
});

it("does not try a figure again that no limit can be charged", async () => {
  const at = setUp();
  const result = await at.take();
  await expect(at.limiter.settle(result, 1e308)).rejects.toThrow(/1e\+308/);
  await expect(at.limiter.settle("tokens", of, 1e308)).rejects.toThrow(/1e\+308/);
  expect(at.pauses).toEqual([]);
  expect(await at.state()).toEqual([700, 300]);
});

describe("a call of a model", () => {
  const call = { params: { prompt: [] }, model: { provider: "p", modelId: "m" } };
  const middlewareOf = ({ limiter }: ReturnType<typeof setUp>) =>
    limitModel(limiter, { name: "tokens", key, estimate: () => 300, hold });

  it("is settled by what it used, though the store fails for a moment", async () => {
    const at = setUp();
    await middlewareOf(at).wrapGenerate({
      ...call,
      async doGenerate() {
        at.failures = 2;
        return { usage: { inputTokens: 20, outputTokens: 30 } };
      },
    });
    expect(await at.state()).toEqual([950, 0]);
  });

  it("keeps its estimate where it reports what cannot be true, and says so", async () => {
    const at = setUp();
    const usage = { inputTokens: 20, outputTokens: 1e308 };
    await middlewareOf(at).wrapGenerate({ ...call, doGenerate: async () => ({ usage }) });
    expect(await at.state()).toEqual([700, 0]);
    expect(at.warnings).toEqual([expect.stringMatching(/got NaN as the use .* "tokens"/)]);
  });
});
