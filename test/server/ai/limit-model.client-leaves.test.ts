/** A client leaves in the middle of an answer that the AI SDK streams over HTTP: its slot is freed. */
import { request as ask, type ServerResponse } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { limitModel, type ModelCallParams, rateLimitErrorOf } from "../../../server/ai/index.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  rateLimitResponse,
} from "../../../server/index.js";
import { hasAiSdk, NO_AI_SDK, openAiSdk, type Part, VERSIONS } from "../../support/ai-sdk.js";
import { serveFetch } from "../../support/serve-fetch.js";

const SLOTS = 2;
const limits = {
  // Longer than the test, so that no slot is freed for its age.
  answers: { kind: "concurrency", slots: SLOTS, ttl: 10 * MINUTE },
  tokens: { kind: "fixed window", rate: 10_000, period: "month", start: 0 },
} as const;
const key = "ada";

/** A client that reads the first words, and leaves when it is told to. */
function connect(url: string): Promise<{ words: string; leave(): void }> {
  return new Promise((resolve, reject) => {
    const asking = ask(url, { agent: false }, (response) => {
      response.on("error", () => {});
      response.once("data", (chunk: Buffer) => {
        resolve({ words: chunk.toString(), leave: () => void asking.destroy() });
      });
    });
    asking.once("error", reject);
    asking.end();
  });
}

if (!hasAiSdk) it("works with the AI SDK", ({ skip }) => skip(NO_AI_SDK));

describe.runIf(hasAiSdk).each(VERSIONS)("a stream of the AI SDK %d", (version) => {
  async function start() {
    const ai = await openAiSdk(version);
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    let writing = 0;
    /** An answer that goes on until the provider hears that its client has left. */
    const doStream = async ({ abortSignal }: ModelCallParams) => {
      writing++;
      const stream = new ReadableStream<Part>({
        start(controller) {
          for (const part of ai.text("first words").slice(0, -1)) controller.enqueue(part);
          abortSignal!.addEventListener("abort", () => {
            writing--;
            controller.error(abortSignal!.reason);
          });
        },
      });
      return { stream };
    };
    const middleware = limitModel(limiter, {
      name: "tokens",
      key,
      estimate: () => 300,
      slots: { name: "answers", key },
    });
    const model = ai.model({ doStream }, middleware);
    const denials: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void denials.push(rateLimitErrorOf(error));
    const host = await serveFetch(
      async ({ signal }) => {
        const next = await limiter.check("answers", { key });
        if (!next.ok) return rateLimitResponse(next, { limiter, name: "answers", key });
        const prompt = "Tell a long story";
        const asked = { model, prompt, maxRetries: 0, abortSignal: signal, onError };
        return ai.streamText(asked).toTextStreamResponse();
      },
      "",
      (body: Readable, res: ServerResponse) => pipeline(body, res, () => {}),
    );
    const free = async () => (await limiter.check("answers", { key })).value;
    return { host, free, limiter, writing: () => writing, denials };
  }

  it("holds a slot until its client leaves, and the next client gets the slot", async () => {
    const at = await start();
    await using host = at.host;
    const clients = [await connect(host.url), await connect(host.url)];
    expect(clients.map(({ words }) => words.slice(0, 11))).toEqual(["first words", "first words"]);
    expect([await at.free(), at.writing()]).toEqual([0, 2]);
    expect((await connect(host.url)).words).toContain("answers");

    clients[0]!.leave();
    await expect.poll(at.free).toBe(1);
    expect(at.writing()).toBe(1);
    const next = await connect(host.url);
    expect([await at.free(), at.writing()]).toEqual([0, 2]);
    next.leave();
    clients[1]!.leave();
    await expect.poll(at.free).toBe(SLOTS);
    expect(at.denials).toEqual([]);
    // The use of an answer that was left is not known.
    expect((await at.limiter.getValue("tokens", { key })).value).toBe(10_000 - 3 * 300);
  });
});
