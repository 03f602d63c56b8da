/** Calls of models whose signal is aborted before the model is called. */
import { describe, expect, it } from "vitest";
import { limitModel } from "../../../server/ai/index.js";
import { createRateLimiter, DAY, memoryStore, MINUTE } from "../../../server/index.js";

const limits = {
  tokens: { kind: "fixed window", rate: 1000, period: DAY, start: 0, holds: true },
  provider: { kind: "fixed window", rate: 10_000, period: DAY, start: 0 },
  requests: { kind: "fixed window", rate: 100, period: DAY, start: 0 },
} as const;
const key = "ada";
const model = { provider: "p", modelId: "m" };
const left = new Error("the visitor has left");

describe.each([true, false])("a call, with hold: %s", (holds) => {
  function setUp() {
    const abort = new AbortController();
    const store = memoryStore();
    const at = { abort, asked: 0, whileAsked: () => {}, whileEstimated: () => {} };
    const limiter = createRateLimiter({
      store: {
        ...store,
        async apply(...args) {
          const results = await store.apply(...args);
          at.whileAsked();
          return results;
        },
      },
      limits,
    });
    const { wrapGenerate, wrapStream } = limitModel(limiter, {
      name: "tokens",
      key,
      estimate: async () => {
        at.whileEstimated();
        return 300;
      },
      provider: [{ name: "provider" }, { name: "requests", of: "requests" }],
      ...(holds && { hold: { for: MINUTE, then: "keep" } }),
    });
    const params = { prompt: [], abortSignal: abort.signal };
    const ask = () => {
      at.asked++;
      return Promise.reject(left);
    };
    const calls = {
      generate: () => wrapGenerate({ doGenerate: ask, params, model }),
      stream: () => wrapStream({ doStream: ask, params, model }),
    };
    async function values() {
      const all = [["tokens", { key }], ["provider"], ["requests"]] as const;
      const got = await Promise.all(all.map(([name, of]) => limiter.getValue(name, of)));
      return got.map(({ value, held }) => [value, held]);
    }
    return Object.assign(at, { limiter, calls, values });
  }
  const untouched = [
    [1000, 0],
    [10_000, undefined],
    [100, undefined],
  ];

  it.each(["generate", "stream"] as const)("to %s takes nothing if it is aborted", async (type) => {
    const at = setUp();
    at.abort.abort(left);
    for (let i = 0; i < 10; i++) await expect(at.calls[type]()).rejects.toBe(left);
    expect(at.asked).toBe(0);
    expect(await at.values()).toEqual(untouched);
  });

  it.each(["generate", "stream"] as const)(
    "to %s takes nothing if it is aborted while its tokens are counted",
    async (type) => {
      const at = setUp();
      at.whileEstimated = () => at.abort.abort(left);
      await expect(at.calls[type]()).rejects.toBe(left);
      expect(at.asked).toBe(0);
      expect(await at.values()).toEqual(untouched);
    },
  );

  it.each(["generate", "stream"] as const)(
    "to %s gets its tokens back if it is aborted while the limiter is asked",
    async (type) => {
      const at = setUp();
      at.whileAsked = () => at.abort.abort(left);
      await expect(at.calls[type]()).rejects.toBe(left);
      expect(at.asked).toBe(0);
      expect((await at.values()).map(([value]) => value)).toEqual([1000, 10_000, 100]);
      expect(await at.limiter.holds("tokens", { key })).toEqual([]);
    },
  );
});
