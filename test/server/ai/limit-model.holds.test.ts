/** Calls of models that hold their estimate until it is settled. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { limitModel, type LimitModelOptions } from "../../../server/ai/index.js";
import { createRateLimiter, DAY, memoryStore, MINUTE } from "../../../server/index.js";

const limits = {
  tokens: { kind: "fixed window", rate: 1000, period: DAY, start: 0, holds: true },
  provider: { kind: "fixed window", rate: 10_000, period: DAY, start: 0 },
} as const;
const key = "ada";
const params = { prompt: [] };
const model = { provider: "p", modelId: "m" };
const usage = { inputTokens: 20, outputTokens: 30 };
const never = new Promise<never>(() => {});

function setUp(options: Partial<LimitModelOptions<typeof limits>> = {}) {
  const warnings: string[] = [];
  const clock = createManualClock(20_000 * DAY);
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    clock,
    logger: { warn: (message: string) => void warnings.push(message), error() {} },
  });
  const middleware = limitModel(limiter, {
    name: "tokens",
    key,
    estimate: () => 300,
    provider: { name: "provider" },
    hold: { for: MINUTE, then: "release" },
    ...options,
  });
  /** What is left, and what is held. */
  async function state() {
    const { value, held = 0 } = await limiter.getValue("tokens", { key });
    return { left: value, held };
  }
  return { limiter, middleware, state, clock, warnings };
}

function streamOf(parts: readonly (object | Error)[], signal?: AbortSignal) {
  const rest = [...parts];
  return new ReadableStream<unknown>(
    {
      pull(controller) {
        const next = rest.shift();
        if (next instanceof Error) controller.error(next);
        else if (next !== undefined) controller.enqueue(next);
        else if (signal === undefined) controller.close();
        else return never;
        return undefined;
      },
    },
    { highWaterMark: 0 },
  );
}

const text = { type: "text-delta", id: "1", delta: "Hel" };

describe("a call that holds its estimate", () => {
  it("is told from what is spent while it runs, and settled at its end", async () => {
    const at = setUp();
    let during;
    const doGenerate = async () => {
      during = await at.state();
      return { usage };
    };
    await at.middleware.wrapGenerate({ doGenerate, params, model });
    expect(during).toEqual({ left: 700, held: 300 });
    expect(await at.state()).toEqual({ left: 950, held: 0 });
    expect((await at.limiter.getValue("provider")).value).toBe(9950);
    expect(await at.limiter.holds("tokens", { key })).toEqual([]);
  });

  it("gives all back where the provider refuses", async () => {
    const at = setUp();
    const doGenerate = () => Promise.reject(Object.assign(new Error("no"), { statusCode: 500 }));
    await expect(at.middleware.wrapGenerate({ doGenerate, params, model })).rejects.toThrow("no");
    expect(await at.state()).toEqual({ left: 1000, held: 0 });
  });

  it("keeps the estimate of an answer without a figure, and says so once", async () => {
    const at = setUp();
    const doGenerate = async () => ({ usage: {} });
    await at.middleware.wrapGenerate({ doGenerate, params, model });
    expect(await at.state()).toEqual({ left: 700, held: 0 });
    expect(at.warnings.filter((warning) => warning.includes('"tokens"'))).toHaveLength(1);
  });

  it("keeps the estimate of a lost answer, which must not come back when it lapses", async () => {
    const at = setUp();
    const doGenerate = () => Promise.reject(new Error("socket hang up"));
    await expect(at.middleware.wrapGenerate({ doGenerate, params, model })).rejects.toThrow(
      "hang up",
    );
    expect(await at.state()).toEqual({ left: 700, held: 0 });
    expect(at.warnings).toEqual([]);
  });

  it.each(["cancelled", "cut off", "aborted, and neither read nor cancelled"])(
    "keeps the estimate of a stream that is %s",
    async (how) => {
      const at = setUp();
      const abort = new AbortController();
      const parts = how === "cut off" ? [text, new Error("cut")] : [text];
      const stream = streamOf(parts, abort.signal);
      const call = { params: { ...params, abortSignal: abort.signal }, model };
      const answer = await at.middleware.wrapStream({
        ...call,
        doStream: async () => ({ stream }),
      });
      const reader = answer.stream.getReader();
      expect((await reader.read()).value).toBe(text);
      expect(await at.state()).toEqual({ left: 700, held: 300 });
      if (how === "cancelled") await reader.cancel();
      else if (how === "cut off") await expect(reader.read()).rejects.toThrow("cut");
      else abort.abort();
      await expect.poll(at.state).toEqual({ left: 700, held: 0 });
    },
  );

  it("settles a stream at its end", async () => {
    const at = setUp();
    const stream = streamOf([text, { type: "finish", usage }]);
    const answer = await at.middleware.wrapStream({
      doStream: async () => ({ stream }),
      params,
      model,
    });
    for await (const _ of answer.stream as unknown as AsyncIterable<unknown>);
    expect(await at.state()).toEqual({ left: 950, held: 0 });
  });

  it.each([
    ["release", 1000],
    ["keep", 700],
  ] as const)("that dies leaves a hold that lapses, with %s", async (then, left) => {
    const at = setUp({ hold: { for: MINUTE, then } });
    void at.middleware.wrapGenerate({ doGenerate: () => never, params, model });
    await expect.poll(at.state).toEqual({ left: 700, held: 300 });
    at.clock.advance(MINUTE);
    // Held tokens that have lapsed come back where a call needs them.
    const next = await at.limiter.limit("tokens", { key, count: 800 });
    expect(next.ok).toBe(left === 1000);
  });

  it("has the id that the application gives it, by which any process settles it", async () => {
    const at = setUp({ once: () => "job 7" });
    void at.middleware.wrapGenerate({ doGenerate: () => never, params, model });
    await expect.poll(at.state).toEqual({ left: 700, held: 300 });
    const settled = await at.limiter.settle("tokens", { key, once: "job 7" }, 10);
    expect(settled).toMatchObject({ settled: true });
    expect(await at.state()).toEqual({ left: 990, held: 0 });
  });
});

describe("a repeat of a call, while the first one still works", () => {
  const refused = () => Promise.reject(Object.assign(new Error("no"), { statusCode: 400 }));
  const abort = new AbortController();
  const aborted = { ...params, abortSignal: abort.signal };
  const repeats: Record<string, (at: ReturnType<typeof setUp>) => Promise<unknown>> = {
    "that the provider refuses": async ({ middleware }) =>
      expect(middleware.wrapGenerate({ doGenerate: refused, params, model })).rejects.toThrow("no"),
    "that is cut off": async ({ middleware }) =>
      expect(
        middleware.wrapGenerate({
          doGenerate: () => Promise.reject(new Error("cut")),
          params,
          model,
        }),
      ).rejects.toThrow("cut"),
    "that is answered sooner": ({ middleware }) =>
      middleware.wrapGenerate({ doGenerate: async () => ({ usage }), params, model }),
    "that is aborted": async ({ middleware }) => {
      const stream = streamOf([text], aborted.abortSignal);
      const doStream = async () => ({ stream });
      const answer = await middleware.wrapStream({ doStream, params: aborted, model });
      await answer.stream.getReader().read();
      abort.abort();
    },
  };

  it.each(Object.keys(repeats))("%s leaves the hold to the first one", async (how) => {
    const at = setUp({ once: () => "job 7" });
    let answer: (result: { usage: object }) => void = () => {};
    const answered = new Promise<{ usage: object }>((resolve) => (answer = resolve));
    const first = at.middleware.wrapGenerate({ doGenerate: () => answered, params, model });
    await expect.poll(at.state).toEqual({ left: 700, held: 300 });
    await repeats[how]!(at);
    expect(await at.state()).toEqual({ left: 700, held: 300 });
    answer({ usage: { inputTokens: 100, outputTokens: 400 } });
    await first;
    expect(await at.state()).toEqual({ left: 500, held: 0 });
  });
});
