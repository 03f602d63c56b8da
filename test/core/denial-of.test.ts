/** The denial that an answer of a server says, in each form in which a page gets it. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { denialOf, type RateLimitErrorData } from "../../core/index.js";
import { createRateLimiter, memoryStore, MINUTE, rateLimitResponse } from "../../server/index.js";
import { chatOf, hasAiSdk, NO_AI_SDK, VERSIONS } from "../support/ai-sdk.js";

const limits = { questions: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

async function denied() {
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  await limiter.limit("questions");
  const error: unknown = await limiter.limit("questions", { throws: true }).catch((e) => e);
  const answer = () => rateLimitResponse(error);
  return { error, answer, facts: (await answer().json()) as RateLimitErrorData };
}

describe("a denial", () => {
  it("is found in the JSON of a 429, in its text, and in an error that has the text", async () => {
    const { error, answer, facts } = await denied();
    const text = await answer().text();
    expect(facts.retryAfter).toBeGreaterThan(0);
    for (const of of [facts, text, new Error(text), { message: text }]) {
      expect(denialOf(of)).toEqual(facts);
    }
    expect(denialOf(error)).toMatchObject({ name: "questions", retryAfter: facts.retryAfter });
    expect(denialOf({ data: { rateLimit: facts } })).toBe(facts);
  });

  it("is not found in anything else", async () => {
    const { facts } = await denied();
    const others = [
      undefined,
      null,
      429,
      "",
      "An error occurred.",
      "{",
      "null",
      JSON.stringify({ kind: "StoreFailure" }),
      new Error("Failed to fetch"),
      {},
      [facts],
      { ...facts, retryAfter: "6" },
      { ...facts, config: undefined },
      { message: { ...facts } },
    ];
    expect(others.map((other) => denialOf(other))).toEqual(others.map(() => undefined));
  });

  it("has the names that the page says", () => {
    const found = denialOf<keyof typeof limits>("");
    expectTypeOf(found).toEqualTypeOf<RateLimitErrorData<"questions"> | undefined>();
  });
});

describe.each(VERSIONS)("useChat of the AI SDK %d", (version) => {
  it("has the denial of a request, and of a stream that has begun", async ({ skip }) => {
    if (!hasAiSdk) skip(NO_AI_SDK);
    const { answer, facts } = await denied();
    const chat = await chatOf(version, async () => answer());
    await chat.sendMessage({ text: "hello" });
    expect(denialOf(chat.error)).toEqual(facts);

    const error = { type: "error", errorText: JSON.stringify(facts) };
    const events = [{ type: "start" }, error].map((each) => `data: ${JSON.stringify(each)}\n\n`);
    const headers = { "content-type": "text/event-stream" };
    const later = await chatOf(version, async () => new Response(events.join(""), { headers }));
    await later.sendMessage({ text: "hello" });
    expect(denialOf(later.error)).toEqual(facts);

    const other = await chatOf(version, async () => new Response("down", { status: 503 }));
    await other.sendMessage({ text: "hello" });
    expect(other.error).toBeInstanceOf(Error);
    expect(denialOf(other.error)).toBeUndefined();
  });
});
