/** A call of a model holds a slot as long as its answer streams. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { type LimitModelOptions, limitModel } from "../../../server/ai/index.js";
import {
  createRateLimiter,
  DAY,
  isRateLimitError,
  memoryStore,
  MINUTE,
} from "../../../server/index.js";

const TTL = 3000;
const limits = {
  answers: { kind: "concurrency", slots: 1, ttl: TTL },
  byPlan: { kind: "concurrency", plans: { free: 1, pro: 2 } },
  tokens: { kind: "fixed window", rate: 1000, period: DAY, start: 0, holds: true },
} as const;
const key = "ada";
const params = { prompt: [], providerOptions: { app: { userId: key } } };
const model = { provider: "p", modelId: "m" };
const usage = { inputTokens: 20, outputTokens: 30 };
const text = { type: "text-delta", id: "1", delta: "Hel" };

function setUp(options: Partial<LimitModelOptions<typeof limits>> = {}) {
  const store = memoryStore();
  const at = { whileTaking: () => {} };
  const limiter = createRateLimiter({
    store: {
      ...store,
      submit: undefined as never,
      async apply(decisions) {
        const isTaking = decisions.some(({ rows }) => rows[0]!.name === "tokens");
        const results = await store.apply(decisions);
        if (isTaking) at.whileTaking();
        return results;
      },
    },
    plans: ["free", "pro"],
    limits,
  });
  const middleware = limitModel(limiter, {
    name: "tokens",
    key,
    estimate: () => 300,
    slots: { name: "answers", key },
    ...options,
  });
  const stream = async (
    doStream: () => Promise<{ stream: ReadableStream<unknown> }>,
    abortSignal?: AbortSignal,
  ) => {
    const call = { doStream, params: { ...params, abortSignal }, model };
    return (await middleware.wrapStream(call)).stream;
  };
  return Object.assign(at, {
    limiter,
    stream,
    /** A call whose answer has begun, and will not end by itself. */
    begin: (abortSignal?: AbortSignal) =>
      stream(async () => ({ stream: answering().stream }), abortSignal),
    generate: (doGenerate: () => Promise<{ usage: object }>, abortSignal?: AbortSignal) =>
      middleware.wrapGenerate({ doGenerate, params: { ...params, abortSignal }, model }),
    free: async () => (await limiter.check("answers", { key })).value,
    left: async () => (await limiter.getValue("tokens", { key })).value,
  });
}

/** The parts of an answer that a test writes. */
function answering() {
  let controller!: ReadableStreamDefaultController<unknown>;
  let isLeft = false;
  const stream = new ReadableStream<unknown>({
    start: (own) => void (controller = own),
    cancel: () => void (isLeft = true),
  });
  return {
    stream,
    write: (part: object) => controller.enqueue(part),
    end: () => controller.close(),
    fail: (error: Error) => controller.error(error),
    isLeft: () => isLeft,
  };
}

const asked = () => Promise.reject(new Error("the model was asked"));

/** Time only passes where a test says so. */
const stopTime = () =>
  vi.useFakeTimers({ now: 1e12, toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
afterEach(() => void vi.useRealTimers());

describe("holds its slot", () => {
  it("until an answer is complete", async () => {
    const at = setUp();
    let during;
    const doGenerate = async () => {
      during = [await at.free(), await at.left()];
      return { usage };
    };
    for (let call = 0; call < 3; call++) await at.generate(doGenerate);
    expect(during).toEqual([0, 1000 - 50 - 50 - 300]);
    expect([await at.free(), await at.left()]).toEqual([1, 850]);
  });

  it("until a stream has come to its end, before the reader hears of it", async () => {
    const at = setUp();
    const answer = answering();
    const reader = (await at.stream(async () => answer)).getReader();
    for (const part of [text, { type: "finish", usage }]) {
      answer.write(part);
      expect((await reader.read()).value).toBe(part);
      expect(await at.free()).toBe(0);
    }
    answer.end();
    expect((await reader.read()).done).toBe(true);
    expect([await at.free(), await at.left()]).toEqual([1, 950]);
  });

  it("until a stream fails", async () => {
    const at = setUp();
    const answer = answering();
    const reader = (await at.stream(async () => answer)).getReader();
    const reading = reader.read();
    answer.fail(new Error("the model is gone"));
    await expect(reading).rejects.toThrow("the model is gone");
    expect(await at.free()).toBe(1);
  });

  it("until a reader leaves", async () => {
    const at = setUp();
    const answer = answering();
    const stream = await at.stream(async () => answer);
    expect(await at.free()).toBe(0);
    await stream.cancel();
    expect([await at.free(), await at.left(), answer.isLeft()]).toEqual([1, 700, true]);
  });

  it("until a call is aborted, although nobody reads or cancels the stream", async () => {
    stopTime();
    const at = setUp();
    const abort = new AbortController();
    await at.begin(abort.signal);
    expect(await at.free()).toBe(0);
    abort.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(await at.free()).toBe(1);

    // The model may answer all the same.
    const late = new AbortController();
    const answer = answering();
    const stream = async () => {
      late.abort();
      return answer;
    };
    await at.stream(stream, late.signal);
    await vi.advanceTimersByTimeAsync(0);
    expect(await at.free()).toBe(1);
  });

  it("until the model refuses", async () => {
    const at = setUp();
    const refuse = () => Promise.reject(Object.assign(new Error("no"), { statusCode: 500 }));
    await expect(at.generate(refuse)).rejects.toThrow("no");
    expect([await at.free(), await at.left()]).toEqual([1, 1000]);
    await expect(at.stream(refuse)).rejects.toThrow("no");
    expect([await at.free(), await at.left()]).toEqual([1, 1000]);
  });

  it("for its ttl where nobody reads the stream, which may go on", async () => {
    stopTime();
    const at = setUp();
    const answer = answering();
    const reader = (await at.stream(async () => answer)).getReader();
    // A reader that waits for the model reads.
    const reading = reader.read();
    await vi.advanceTimersByTimeAsync(10 * TTL);
    expect(await at.free()).toBe(0);
    answer.write(text);
    expect((await reading).value).toBe(text);
    await vi.advanceTimersByTimeAsync(TTL - 1);
    expect(await at.free()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(await at.free()).toBe(1);
    answer.write({ type: "finish", usage });
    await reader.read();
    answer.end();
    expect((await reader.read()).done).toBe(true);
    expect(await at.left()).toBe(950);
  });
});

it("is denied without a slot, and takes no tokens", async () => {
  const at = setUp();
  await at.begin();
  const denied: unknown = await at.generate(asked).catch((error: unknown) => error);
  expect(isRateLimitError(denied)).toBe(true);
  expect(denied).toMatchObject({ data: { rateLimit: { name: "answers", value: 0 } } });
  expect(await at.left()).toBe(700);
});

it("frees its slot where its tokens are denied", async () => {
  const at = setUp();
  await at.limiter.limit("tokens", { key, count: 800 });
  for (const call of [() => at.generate(asked), () => at.begin()]) {
    const denied: unknown = await call().catch((error: unknown) => error);
    expect(denied).toMatchObject({ data: { rateLimit: { name: "tokens" } } });
    expect([await at.free(), await at.left()]).toEqual([1, 200]);
  }
});

it("waits in line for a slot, and takes its tokens when it has the slot", async () => {
  const at = setUp({ slots: { name: "answers", key, maxWait: MINUTE } });
  const stream = await at.begin();
  let isAsked = false;
  const waiting = at.generate(async () => {
    isAsked = true;
    return { usage };
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect([isAsked, await at.left()]).toEqual([false, 700]);
  await stream.cancel();
  await waiting;
  expect([isAsked, await at.free(), await at.left()]).toEqual([true, 1, 650]);
});

it("takes nothing where it is aborted in line", async () => {
  const at = setUp({ slots: { name: "answers", key, maxWait: MINUTE } });
  const stream = await at.begin();
  const abort = new AbortController();
  const waiting = at.generate(asked, abort.signal).catch((error: unknown) => error);
  await new Promise((resolve) => setImmediate(resolve));
  const left = new Error("left");
  abort.abort(left);
  expect(await waiting).toBe(left);
  expect([await at.free(), await at.left()]).toEqual([0, 700]);
  await stream.cancel();
  expect(await at.free()).toBe(1);
});

it("gives slot and tokens back where it is aborted while its tokens are taken", async () => {
  const at = setUp();
  const abort = new AbortController();
  at.whileTaking = () => abort.abort(new Error("left"));
  await expect(at.generate(asked, abort.signal)).rejects.toThrow("left");
  expect([await at.free(), await at.left()]).toEqual([1, 1000]);
});

it("knows whose slots they are, and the plan, from the call", async () => {
  const at = setUp({
    slots: {
      name: "byPlan",
      key: ({ params: { providerOptions } }) => String(providerOptions!["app"]!["userId"]),
      plan: () => "pro",
    },
  });
  const streams = [await at.begin(), await at.begin()];
  await expect(at.generate(asked)).rejects.toMatchObject({
    data: { rateLimit: { name: "byPlan" } },
  });
  for (const stream of streams) await stream.cancel();
  expect((await at.limiter.check("byPlan", { key, plan: "pro" })).value).toBe(2);
});
