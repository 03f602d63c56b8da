/** `limitModel` in each version of the AI SDK, with the mock models of its own tests. */
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { limitModel, type LimitModelOptions } from "../../../server/ai/index.js";
import {
  createRateLimiter,
  isRateLimitError,
  memoryStore,
  MINUTE,
  type RateLimitConfig,
  RateLimitStoreError,
  SECOND,
} from "../../../server/index.js";
import {
  type AiSdk,
  hasAiSdk,
  NO_AI_SDK,
  openAiSdk,
  type Part,
  streamOf,
  VERSIONS,
} from "../../support/ai-sdk.js";

const limits = {
  tokens: { kind: "token bucket", rate: 6000, period: MINUTE, capacity: 1000 },
  provider: { kind: "token bucket", rate: 60_000, period: MINUTE, capacity: 10_000 },
  requests: { kind: "token bucket", rate: 60, period: MINUTE },
} as const;

const key = "ada";
/** What each call takes first. */
const ESTIMATE = 300;

function setUp(options: Partial<LimitModelOptions<typeof limits>> = {}) {
  const warnings: string[] = [];
  const store = memoryStore();
  const failing = { ...store, isDown: false };
  const limiter = createRateLimiter({
    store: {
      ...store,
      apply: (...args) =>
        failing.isDown
          ? Promise.reject(new RateLimitStoreError("the database is down"))
          : store.apply(...args),
    },
    limits,
    clock: createManualClock(),
    logger: { warn: (message: string) => void warnings.push(message), error() {} },
  });
  const middleware = limitModel(limiter, {
    name: "tokens",
    key,
    estimate: () => ESTIMATE,
    ...options,
  });
  const left = async (name: keyof typeof limits = "tokens") =>
    (await limiter.getValue(name, name === "tokens" ? { key } : {})).value;
  return { limiter, middleware, left, warnings, failing };
}

const prompt = "Say hello";
const once = { prompt, maxRetries: 0 };

/** Reads a stream as an application does, and says how it ended. */
async function read(ai: AiSdk, model: unknown, parts?: number) {
  const words: string[] = [];
  const errors: unknown[] = [];
  const onError = ({ error }: { error: unknown }) => void errors.push(error);
  const { textStream } = ai.streamText({ ...once, model, onError });
  try {
    for await (const word of textStream) if (words.push(word) === parts) break;
  } catch (error) {
    errors.push(error);
  }
  return { words, errors };
}

if (!hasAiSdk) it("works with the AI SDK", ({ skip }) => skip(NO_AI_SDK));

describe.runIf(hasAiSdk).each(VERSIONS)("limitModel of the AI SDK %d", (version) => {
  const opening = hasAiSdk ? openAiSdk(version) : undefined;
  const open = () => opening!;
  const streaming = (ai: AiSdk, parts: (Part | Error)[], at: ReturnType<typeof setUp>) =>
    ai.model({ doStream: async () => ({ stream: streamOf(parts) }) }, at.middleware);

  let ai: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    ai = await open();
  });

  it("takes an estimate before the call, and settles what it has used", async () => {
    const at = setUp();
    let during;
    const doGenerate = async () => {
      during = await at.left();
      return { usage: ai.usage(20, 30) };
    };
    const { text } = await ai.generateText({
      ...once,
      model: ai.model({ doGenerate }, at.middleware),
    });
    expect(text).toBe("Hello");
    expect([during, await at.left()]).toEqual([700, 950]);
  });

  it("charges more than the estimate where more was used", async () => {
    const at = setUp();
    const doGenerate = async () => ({ usage: ai.usage(700, 500) });
    await ai.generateText({ ...once, model: ai.model({ doGenerate }, at.middleware) });
    expect(await at.left()).toBe(-200);
  });

  it("refuses a call without its tokens, and asks no model", async () => {
    const at = setUp();
    await at.limiter.limit("tokens", { key, count: 800 });
    let calls = 0;
    const doGenerate = async () => ({ usage: ai.usage(++calls, 1) });
    const doStream = async () => ({ stream: streamOf([ai.finish(ai.usage(++calls, 1))]) });
    const model = ai.model({ doGenerate, doStream }, at.middleware);
    const denied = await ai.generateText({ ...once, model }).catch((error: unknown) => error);
    expect(isRateLimitError(denied)).toBe(true);
    expect(denied).toMatchObject({ data: { rateLimit: { name: "tokens", retryAfter: SECOND } } });
    const { errors } = await read(ai, model);
    expect(isRateLimitError(errors[0])).toBe(true);
    expect(calls).toBe(0);
    expect(await at.left()).toBe(200);
  });

  it("asks the model each time while the limits are off, whatever a call is worth", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      enabled: false,
      logger: false,
    });
    const provider = [{ name: "provider" }, { name: "requests", of: "requests" }] as const;
    const options = { name: "tokens", key, provider, estimate: () => 50_000 } as const;
    const doGenerate = async () => ({
      usage: ai.usage(90_000, 30),
      response: { headers: { "retry-after": "60", "x-ratelimit-remaining-tokens": "0" } },
    });
    const model = ai.model({ doGenerate }, limitModel(limiter, options));
    for (let i = 0; i < 3; i++) {
      expect(await ai.generateText({ ...once, model })).toMatchObject({ text: "Hello" });
    }
  });

  it.each([
    ["nothing", [undefined, undefined]],
    ["half", [20, undefined]],
    ["NaN", [NaN, 30]],
    ["texts", ["20", "30"]],
    ["negative", [-20, 10]],
    ["infinite", [Infinity, 10]],
    ["null", [null, null]],
  ])("keeps the estimate where the reported use is %s, and ends nothing", async (_, reported) => {
    const at = setUp();
    const usage = ai.usage(...reported);
    const doGenerate = async () => ({ usage });
    const doStream = async () => ({
      stream: streamOf([...ai.text("Hel", "lo"), ai.finish(usage)]),
    });
    const model = ai.model({ doGenerate, doStream }, at.middleware);
    expect(await read(ai, model)).toEqual({ words: ["Hel", "lo"], errors: [] });
    expect((await ai.generateText({ ...once, model })).text).toBe("Hello");
    expect(await at.left()).toBe(1000 - 2 * ESTIMATE);
    expect(at.warnings).toHaveLength(1);
  });

  it("settles a stream at its end", async () => {
    const at = setUp();
    const parts = [...ai.text("Hel", "lo"), ai.finish(ai.usage(20, 30))];
    expect((await read(ai, streaming(ai, parts, at))).words).toEqual(["Hel", "lo"]);
    expect(await at.left()).toBe(950);
  });

  it("keeps the estimate of a stream that ends without a report", async () => {
    const at = setUp();
    await read(ai, streaming(ai, ai.text("Hel", "lo"), at));
    expect(await at.left()).toBe(1000 - ESTIMATE);
  });

  it("gives all back where the provider refuses", async () => {
    for (const status of [400, 401, 429, 500, 529]) {
      const at = setUp();
      const refuse = () => Promise.reject(ai.refusal(status));
      const model = ai.model({ doGenerate: refuse, doStream: refuse }, at.middleware);
      await expect(ai.generateText({ ...once, model })).rejects.toThrow("refused");
      expect((await read(ai, model)).errors.length).toBeGreaterThan(0);
      expect(await at.left()).toBe(1000);
    }
  });

  it("keeps the estimate where the answer was lost or aborted, which the provider may bill", async () => {
    for (const error of [
      ai.refusal(200),
      new Error("socket hang up"),
      new DOMException("", "AbortError"),
    ]) {
      const at = setUp();
      const model = ai.model({ doGenerate: () => Promise.reject(error) }, at.middleware);
      await expect(ai.generateText({ ...once, model })).rejects.toBeDefined();
      expect(await at.left()).toBe(1000 - ESTIMATE);
    }
  });

  it("gives all back where no connection was made", async () => {
    const at = setUp();
    const cause = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const doGenerate = () => Promise.reject(new TypeError("fetch failed", { cause }));
    await expect(
      ai.generateText({ ...once, model: ai.model({ doGenerate }, at.middleware) }),
    ).rejects.toBeDefined();
    expect(await at.left()).toBe(1000);
  });

  it("gives all back for an error in a stream before anything was generated", async () => {
    const at = setUp();
    const error: Part = { type: "error", error: { type: "overloaded_error" } };
    const start: Part = { type: "stream-start", warnings: [] };
    await read(ai, streaming(ai, [start, error], at));
    await read(ai, streaming(ai, [start, error, ai.finish(ai.usage())], at));
    expect(await at.left()).toBe(1000);
    // It is billed if the provider says so.
    await read(ai, streaming(ai, [start, error, ai.finish(ai.usage(20, 0))], at));
    expect(await at.left()).toBe(980);
  });

  it("keeps the estimate for an error after some of the answer, unless the use is reported", async () => {
    const error: Part = { type: "error", error: new Error("cut") };
    const some = ai.text("Hel").slice(0, 2);
    for (const [parts, charged] of [
      [[...some, error], ESTIMATE],
      [[...some, error, ai.finish(ai.usage())], ESTIMATE],
      [[...some, error, ai.finish(ai.usage(20, 5))], 25],
      [[...some, new Error("socket hang up")], ESTIMATE],
      [[...some, ai.refusal(500)], ESTIMATE],
    ] satisfies [(Part | Error)[], number][]) {
      const at = setUp();
      const { words, errors } = await read(ai, streaming(ai, parts, at));
      expect([words, errors.length > 0]).toEqual([["Hel"], true]);
      expect(await at.left()).toBe(1000 - charged);
    }
  });

  it("keeps the estimate when the reader leaves, and tells the model", async () => {
    const at = setUp();
    let cancelled: unknown;
    const rest = [...ai.text("Hel"), ...ai.text("lo")];
    const stream = new ReadableStream<Part>({
      pull: (controller) => controller.enqueue(rest.shift() ?? { type: "ping" }),
      cancel: (reason) => void (cancelled = reason ?? "left"),
    });
    const { stream: watched } = await at.middleware.wrapStream({
      doStream: async () => ({ stream }),
      params: { prompt: [] },
      model: { provider: "p", modelId: "m" },
    });
    const reader = watched.getReader();
    for (let part = 0; part < 3; part++) await reader.read();
    await reader.cancel("the client went away");
    expect(cancelled).toBe("the client went away");
    expect(await at.left()).toBe(1000 - ESTIMATE);
  });

  it("keeps the estimate when the call is aborted in the middle", async () => {
    const at = setUp();
    const abort = new AbortController();
    const doStream = async ({ abortSignal }: { abortSignal?: AbortSignal | undefined }) => {
      const rest = ai.text("Hel", "lo", "!").slice(0, 3);
      return {
        stream: new ReadableStream<Part>({
          pull(controller) {
            const next = rest.shift();
            if (next) return controller.enqueue(next);
            return new Promise((resolve) => {
              abortSignal!.addEventListener("abort", () => {
                controller.error(abortSignal!.reason);
                resolve();
              });
            });
          },
        }),
      };
    };
    const model = ai.model({ doStream }, at.middleware);
    const { textStream } = ai.streamText({
      ...once,
      model,
      abortSignal: abort.signal,
      onError() {},
    });
    const words: string[] = [];
    try {
      for await (const word of textStream) if (words.push(word) === 2) abort.abort();
    } catch {
      // Some versions end the text, and others fail it.
    }
    expect(words).toEqual(["Hel", "lo"]);
    expect(await at.left()).toBe(1000 - ESTIMATE);
  });

  it("answers although the database fails after the call has begun", async () => {
    const at = setUp({ provider: { name: "provider" } });
    const headers = { "x-ratelimit-remaining-tokens": "500" };
    const doGenerate = async () => {
      at.failing.isDown = true;
      return { usage: ai.usage(20, 30), headers };
    };
    const doStream = async () => {
      at.failing.isDown = true;
      return { stream: streamOf([...ai.text("Hi"), ai.finish(ai.usage(1, 1))]), headers };
    };
    const model = ai.model({ doGenerate, doStream }, at.middleware);
    expect((await ai.generateText({ ...once, model })).text).toBe("Hello");
    at.failing.isDown = false;
    expect(await read(ai, model)).toEqual({ words: ["Hi"], errors: [] });
    at.failing.isDown = false;
    expect(await at.left()).toBe(1000 - 2 * ESTIMATE);
    // A call that the limiter cannot decide does not begin.
    at.failing.isDown = true;
    await expect(ai.generateText({ ...once, model })).rejects.toThrow("the database is down");
  });

  it("shares the provider's limit, and lowers it to what the provider says", async () => {
    const at = setUp({ provider: [{ name: "provider" }, { name: "requests", of: "requests" }] });
    const headers = {
      "x-ratelimit-remaining-tokens": "5000",
      "x-ratelimit-remaining-requests": "7",
    };
    const doGenerate = async () => ({ usage: ai.usage(20, 30), headers });
    const doStream = async () => ({
      stream: streamOf([...ai.text("Hi"), ai.finish(ai.usage(20, 30))]),
      headers: { "x-ratelimit-remaining-tokens": "4000" },
    });
    const model = ai.model({ doGenerate, doStream }, at.middleware);
    await ai.generateText({ ...once, model });
    expect([await at.left("provider"), await at.left("requests")]).toEqual([5000, 7]);
    await read(ai, model);
    expect(await at.left("provider")).toBeLessThanOrEqual(4000 + ESTIMATE - 50);
    expect(await at.left("requests")).toBe(6);
    await at.limiter.observe("provider", { remaining: 100 });
    const denied = await ai.generateText({ ...once, model }).catch((error: unknown) => error);
    expect(denied).toMatchObject({ data: { rateLimit: { name: "provider" } } });
    // All or none.
    expect(await at.left()).toBe(900);
  });

  it("makes all calls wait as long as a refusing provider says", async () => {
    const at = setUp({ provider: { name: "provider" } });
    const refuse = () => Promise.reject(ai.refusal(429, { "retry-after": "20" }));
    const model = ai.model({ doGenerate: refuse }, at.middleware);
    await expect(ai.generateText({ ...once, model })).rejects.toThrow("refused");
    expect(await at.left()).toBe(1000);
    const denied = await ai.generateText({ ...once, model }).catch((error: unknown) => error);
    expect(denied).toMatchObject({ data: { rateLimit: { name: "provider", retryAfter: 20_300 } } });
  });

  it("finds the caller, the plan and the id of a call in what the application passes on", async () => {
    const plans: Record<string, RateLimitConfig> = {
      pro: { kind: "token bucket", rate: 60_000, period: MINUTE, capacity: 5000 },
    };
    const at = setUp({
      key: ({ params }) => params.providerOptions!["app"]!["user"] as string,
      config: ({ params }) => plans[params.providerOptions!["app"]!["plan"] as string],
      once: ({ params }) => params.providerOptions!["app"]!["id"] as string | undefined,
    });
    const doGenerate = async () => ({ usage: ai.usage(100, 100) });
    const model = ai.model({ doGenerate }, at.middleware);
    const ask = (app: Record<string, string>) =>
      ai.generateText({ ...once, model, providerOptions: { app } });
    await ask({ user: "pro user", plan: "pro", id: "question 1" });
    await ask({ user: "pro user", plan: "pro", id: "question 1" });
    await ask({ user: "free user" });
    const leftOf = async (user: string, config?: RateLimitConfig) =>
      (await at.limiter.getValue("tokens", { key: user, config: config ?? limits.tokens })).value;
    expect(await leftOf("pro user", plans["pro"])).toBe(4800);
    expect(await leftOf("free user")).toBe(800);
  });

  it("counts the use as the application says", async () => {
    const counts = [() => 7, () => undefined, () => JSON.parse("{") as number];
    const charged: number[] = [];
    for (const tokens of counts) {
      const at = setUp({ tokens });
      const doGenerate = async () => ({ usage: ai.usage(100, 100) });
      await ai.generateText({ ...once, model: ai.model({ doGenerate }, at.middleware) });
      charged.push(1000 - (await at.left()));
    }
    expect(charged).toEqual([7, ESTIMATE, ESTIMATE]);
  });
});
