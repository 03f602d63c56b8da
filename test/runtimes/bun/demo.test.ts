/** The example application, started by Bun instead of Node.js. */
import { randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { bun, NO_BUN } from "../../support/bun.js";
import { startDemo } from "../../support/demo.js";

interface Denial {
  retryAfter: number;
}

/** The cookie that the page sets, so that all calls come from one visitor. */
async function visit(url: string): Promise<string> {
  const page = await fetch(url);
  expect(page.status).toBe(200);
  return page.headers.getSetCookie().map((cookie) => cookie.split(";")[0]!)[0]!;
}

/** The data of the messages of a stream, one after the other. */
async function* messagesOf(
  url: string,
  cookie: string,
): AsyncGenerator<{ value?: number }, undefined> {
  const input = JSON.stringify({ items: [{ name: "sendMessage" }] });
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const { body } = await fetch(`${url}/trpc/rateLimit.watch?input=${encodeURIComponent(input)}`, {
    headers: { cookie },
    signal: aborting.signal,
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body!) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith("data: {")) yield JSON.parse(line.slice("data: ".length));
    }
  }
  return undefined;
}

describe.skipIf(bun === undefined)("the example application in Bun", () => {
  it("grants three messages, answers the next one with 429, and streams what is left", async () => {
    await using demo = await startDemo({ bun });
    const cookie = await visit(demo.url);
    const stream = messagesOf(demo.url, cookie);
    /** Reads the stream up to a state with at most this many tokens. */
    const leftIn = async (tokens: number): Promise<number> => {
      for (;;) {
        const { value: message } = await stream.next();
        const { value = Infinity } = message!;
        if (value <= tokens) return value;
      }
    };
    expect(await leftIn(3)).toBe(3);

    const send = () =>
      fetch(`${demo.url}/trpc/chat.send`, {
        method: "POST",
        headers: { cookie, "content-type": "application/json" },
        body: JSON.stringify({ text: "Hello", nonce: randomUUID() }),
      });
    for (let i = 0; i < 3; i++) expect((await send()).status).toBe(200);
    const denied = await send();
    expect(denied.status).toBe(429);
    const { error } = (await denied.json()) as { error: { data: { rateLimit: Denial } } };
    expect(error.data.rateLimit).toMatchObject({ kind: "RateLimited", name: "sendMessage" });
    expect(error.data.rateLimit.retryAfter).toBeGreaterThan(0);

    expect(await leftIn(1)).toBeLessThan(1);
    expect(await demo.interrupt()).toBe(0);
  });
});

if (bun === undefined) it("the example application in Bun", ({ skip }) => skip(NO_BUN));
