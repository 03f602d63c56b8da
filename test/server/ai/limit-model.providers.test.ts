/**
 * `limitModel` with a provider's own package, which calls a real server: header fields, errors, streams.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { limitModel, rateLimitErrorOf } from "../../../server/ai/index.js";
import { createRateLimiter, isRateLimitError, memoryStore, MINUTE } from "../../../server/index.js";
import { hasAiSdk, NO_AI_SDK, openAiSdk, openProvider, VERSIONS } from "../../support/ai-sdk.js";
import { listen } from "../../support/serve-fetch.js";

const limits = {
  tokens: { kind: "token bucket", rate: 6000, period: MINUTE, capacity: 1000 },
  provider: { kind: "token bucket", rate: 60_000, period: MINUTE, capacity: 10_000 },
} as const;
const key = "ada";
const ESTIMATE = 300;
const USAGE = { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 };

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

function json(status: number, body: object, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

const complete = (usage: object | undefined, headers?: Record<string, string>) => {
  const choices = [
    { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" },
  ];
  return json(200, { id: "1", model: "m", choices, ...(usage && { usage }) }, headers);
};

const LAST = { content: "lo" };
const chunk = (delta: object, usage?: object) => {
  const choices = usage ? [] : [{ index: 0, delta, finish_reason: delta === LAST ? "stop" : null }];
  return `data: ${JSON.stringify({ id: "1", model: "m", choices, ...(usage && { usage }) })}\n\n`;
};

/** @param isCut whether the connection ends in the middle. */
function stream(usage: object | undefined, isCut = false): Answer {
  return (response) => {
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "x-ratelimit-remaining-tokens": "5000",
    });
    response.write(chunk({ role: "assistant", content: "Hel" }));
    if (isCut) return void setTimeout(() => response.destroy(), 20);
    response.write(chunk(LAST));
    if (usage) response.write(chunk({}, usage));
    response.end("data: [DONE]\n\n");
  };
}

if (!hasAiSdk) it("works with a provider", ({ skip }) => skip(NO_AI_SDK));

describe.runIf(hasAiSdk).each(VERSIONS)("a provider of the AI SDK %d", (version) => {
  const opening = hasAiSdk ? Promise.all([openAiSdk(version), openProvider(version)]) : undefined;

  async function setUp(answer: Answer) {
    const [ai, provider] = await opening!;
    const server = createServer((request, response) => answer(response, request));
    const host = await listen(server);
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      clock: createManualClock(),
      logger: false,
    });
    const middleware = limitModel(limiter, {
      name: "tokens",
      key,
      estimate: () => ESTIMATE,
      provider: { name: "provider" },
    });
    const model = ai.wrapLanguageModel({
      model: provider.createOpenAICompatible({
        name: "test",
        baseURL: `${host.url}/v1`,
        includeUsage: true,
      })("m"),
      middleware,
    });
    const close = () => host[Symbol.asyncDispose]();
    return {
      limiter,
      ask: (maxRetries = 0) => ai.generateText({ model, prompt: "Say hello", maxRetries }),
      async read(abortSignal?: AbortSignal) {
        const words: string[] = [];
        const errors: unknown[] = [];
        const onError = ({ error }: { error: unknown }) => void errors.push(error);
        const options = { model, prompt: "Say hello", maxRetries: 0, onError };
        try {
          const { textStream } = ai.streamText({ ...options, ...(abortSignal && { abortSignal }) });
          for await (const word of textStream) words.push(word);
        } catch (error) {
          errors.push(error);
        }
        return { words, errors };
      },
      async left() {
        const [tokens, shared] = [
          await limiter.getValue("tokens", { key }),
          await limiter.getValue("provider"),
        ];
        return [tokens.value, shared.value];
      },
      close,
      [Symbol.asyncDispose]: () => (server.listening ? close() : Promise.resolve()),
    };
  }

  it("settles what was used, and hears what remains", async () => {
    const headers = { "x-ratelimit-remaining-tokens": "5000", "x-ratelimit-reset-tokens": "6ms" };
    await using at = await setUp(complete(USAGE, headers));
    expect((await at.ask()).text).toBe("Hello");
    expect(await at.left()).toEqual([950, 5000]);
  });

  it("keeps the estimate where the provider leaves its use out", async () => {
    await using at = await setUp(complete(undefined));
    expect((await at.ask()).text).toBe("Hello");
    expect(await at.left()).toEqual([700, 9700]);
  });

  it("settles a stream", async () => {
    await using at = await setUp(stream(USAGE));
    expect(await at.read()).toEqual({ words: ["Hel", "lo"], errors: [] });
    const [tokens, shared] = await at.left();
    expect(tokens).toBe(950);
    expect(shared).toBeLessThanOrEqual(5250);
  });

  it("keeps the estimate of a stream without a report", async () => {
    await using at = await setUp(stream(undefined));
    expect((await at.read()).words).toEqual(["Hel", "lo"]);
    expect((await at.left())[0]).toBe(700);
  });

  it("keeps the estimate of a stream that is cut off", async () => {
    await using at = await setUp(stream(USAGE, true));
    const { words, errors } = await at.read();
    expect(words).toEqual(["Hel"]);
    expect(errors.length).toBeGreaterThan(0);
    expect((await at.left())[0]).toBe(700);
  });

  it("keeps the estimate of a call that is aborted while the model works", async () => {
    let asked!: () => void;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    await using at = await setUp(() => asked());
    const abort = new AbortController();
    const reading = at.read(abort.signal);
    await isAsked;
    abort.abort();
    await reading;
    await expect.poll(at.left).toEqual([700, 9700]);
  });

  it("gives all back after a refusal, and makes all calls wait as long as it says", async () => {
    const refusal = json(429, { error: { message: "slow down" } }, { "retry-after": "20" });
    await using at = await setUp(refusal);
    await expect(at.ask()).rejects.toThrow("slow down");
    expect((await at.left())[0]).toBe(1000);
    const denied = await at.ask().catch((error: unknown) => error);
    expect(isRateLimitError(denied)).toBe(true);
    expect(denied).toMatchObject({ data: { rateLimit: { name: "provider", retryAfter: 20_300 } } });
  });

  it("denies the retry of a refused call, as an error in which the denial is found", async () => {
    let calls = 0;
    const refusal = json(429, { error: { message: "slow down" } }, { "retry-after-ms": "20" });
    await using at = await setUp((...args) => {
      calls++;
      refusal(...args);
    });
    const error = await at.ask(2).catch((thrown: unknown) => thrown);
    // The AI SDK has put it into an error of its own.
    expect(isRateLimitError(error)).toBe(false);
    expect(rateLimitErrorOf(error)).toMatchObject({ data: { rateLimit: { name: "provider" } } });
    expect(calls).toBe(1);
    expect((await at.left())[0]).toBe(1000);
  });

  it("gives all back where the provider cannot be reached", async () => {
    await using at = await setUp(complete(USAGE));
    await at.close();
    await expect(at.ask()).rejects.toThrow(/connect|fetch/i);
    expect(await at.left()).toEqual([1000, 10_000]);
    expect((await at.read()).errors.length).toBeGreaterThan(0);
    expect(await at.left()).toEqual([1000, 10_000]);
  });
});
