/** The pretend language model over HTTP: estimates, a queue, two tiers, and clients that go away. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTRPCClient, httpBatchStreamLink } from "@trpc/client";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../example-app/shared/server/app.js";
import { openDatabase } from "../../../example-app/shared/server/database.js";
import type { ModelEvent } from "../../../example-app/model/server.js";
import type { AppRouter } from "../../../example-app/shared/server/router.js";
import { soon } from "../../support/soon.js";

async function startExample() {
  const folder = await mkdtemp(join(tmpdir(), "model-"));
  await writeFile(join(folder, "index.html"), "<title>model</title>");
  const prisma = await openDatabase(`file:${join(folder, "test.db")}`);
  const server = await createApp(prisma, folder);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cookie = (await fetch(url)).headers.getSetCookie()[0]!.split(";")[0]!;
  const client = createTRPCClient<AppRouter>({
    links: [httpBatchStreamLink({ url: `${url}/trpc`, headers: { cookie } })],
  });
  return {
    client,
    /** The tokens that the visitor has now. */
    async left() {
      const { value, ts, now, config } = await client.rateLimit.status.query({ name: "llmTokens" });
      const period = config.period as number;
      return Math.min(config.rate, value + ((now - ts) * config.rate) / period);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await prisma.$disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
type Example = Awaited<ReturnType<typeof startExample>>;

/** Asks, and reads the answer in the background until `stop`. */
async function ask({ client }: Example, text: string, length: 100 | 1_000 | 10_000) {
  const stream = new AbortController();
  const events: ModelEvent[] = [];
  const answer = await client.model.ask.mutate({ text, length }, { signal: stream.signal });
  const end = (async () => {
    for await (const event of answer) events.push(event);
  })().catch(() => {});
  return {
    events,
    end,
    kinds: () => [...new Set(events.map(({ kind }) => kind))],
    wait: () => events.findLast((event) => event.kind === "queued")?.wait ?? 0,
    stop: () => stream.abort(),
  };
}

describe("the model", () => {
  it("writes the prompt forwards and backwards, and gives back what it has not used", async () => {
    await using example = await startExample();
    const { events, end } = await ask(example, " one two  three ", 100);
    await end;
    const words = events.flatMap((event) => (event.kind === "word" ? event.word : []));
    expect(words.slice(0, 7).join(" ")).toBe("one two three three two one one");
    expect(words).toHaveLength(30);
    expect(events[0]).toEqual({ kind: "running" });
    const bill = events.at(-1);
    expect(bill).toMatchObject({ kind: "bill", estimated: 103, used: 33 });
    // Of the 103, the bucket refilled about 30 while the model wrote. These cannot come back.
    const { returned } = bill as Extract<ModelEvent, { kind: "bill" }>;
    expect(returned).toBeGreaterThan(20);
    expect(returned).toBeLessThanOrEqual(70);
  });

  it("writes no more words than were asked for", async () => {
    await using example = await startExample();
    const { events, end } = await ask(example, "a b c d e f g h i j k", 100);
    await end;
    expect(events.filter(({ kind }) => kind === "word")).toHaveLength(100);
    const bill = { kind: "bill", estimated: 111, used: 111, returned: 0 };
    expect(events.at(-1)).toEqual(bill);
  });

  it("lets prompts queue in their order, and gives back the tokens of the last one", async () => {
    await using example = await startExample();
    const first = await ask(example, "one", 1_000);
    const second = await ask(example, "two", 1_000);
    const third = await ask(example, "three", 1_000);
    await soon(() => expect(third.kinds()).toEqual(["queued"]));
    expect(second.kinds()).toEqual(["queued"]);
    // 802 and 1,803 tokens are missing, and 20 come in a second.
    expect(second.wait() / 1000).toBeCloseTo(40, 0);
    expect(third.wait() / 1000).toBeGreaterThan(88);
    expect(await example.left()).toBeLessThan(-1_750);
    third.stop();
    await expect.poll(example.left, { timeout: 5_000 }).toBeGreaterThan(-802);
    expect(second.kinds()).toEqual(["queued"]);
    for (const { stop } of [first, second]) stop();
  });

  it("gives back what a client that goes away in the middle of an answer has not used", async () => {
    await using example = await startExample();
    const { kinds, stop } = await ask(example, "one two three four five six seven", 1_000);
    await soon(() => expect(kinds()).toContain("word"));
    expect(await example.left()).toBeLessThan(300);
    stop();
    await expect.poll(example.left, { timeout: 3_000 }).toBeGreaterThan(1_100);
  });

  it("gives back all tokens to a client that goes away at once, at whatever moment", async () => {
    await using example = await startExample();
    for (const delay of [0, 1, 2, 4, 6, 8, 10, 12, 15, 20]) {
      const signal = AbortSignal.timeout(delay);
      const call = example.client.model.ask.mutate({ text: "one", length: 100 }, { signal });
      const reading = call.then(async (events) => {
        for await (const _ of events);
      });
      await expect(reading).rejects.toThrow("abort");
    }
    await expect.poll(example.left, { timeout: 3_000 }).toBeGreaterThan(1_150);
  });

  it("denies a prompt for which the queue has no room, and takes nothing for it", async () => {
    await using example = await startExample();
    const open = [];
    for (const text of ["one", "two", "three"]) open.push(await ask(example, text, 1_000));
    const before = await example.left();
    const denied = await ask(example, "four", 1_000).catch((error: unknown) => error);
    const { data } = denied as { data: { code: string; rateLimit: { retryAfter: number } } };
    expect(data.code).toBe("TOO_MANY_REQUESTS");
    // 404 tokens more than may be reserved.
    expect(data.rateLimit.retryAfter / 1000).toBeCloseTo(20, 0);
    expect(await example.left()).toBeGreaterThanOrEqual(before);
    for (const { stop } of open) stop();
  });

  it("has other words for a prompt that can never run, and runs it on the paid tier", async () => {
    await using example = await startExample();
    const code = { data: { code: "PAYLOAD_TOO_LARGE" } };
    await expect(ask(example, "one", 10_000)).rejects.toMatchObject(code);
    await example.client.model.tier.mutate({ tier: "paid" });
    // A bucket that was never used is full on any tier.
    const { kinds, stop } = await ask(example, "one", 10_000);
    await soon(() => expect(kinds()).toEqual(["running", "word"]));
    stop();
  });

  it("runs a prompt sooner when its visitor pays while it waits", async () => {
    await using example = await startExample();
    const first = await ask(example, "one", 1_000);
    const second = await ask(example, "two", 1_000);
    await soon(() => expect(second.wait()).toBeGreaterThan(30_000));
    await example.client.model.tier.mutate({ tier: "paid" });
    await soon(() => expect(second.wait()).toBeLessThan(4_100));
    await example.client.model.tier.mutate({ tier: "free" });
    await soon(() => expect(second.wait()).toBeLessThan(4_100));
    await example.client.model.tier.mutate({ tier: "paid" });
    await soon(() => expect(second.kinds()).toContain("word"));
    for (const { stop } of [first, second]) stop();
  });

  it.each([
    ["no text", { text: "   ", length: 100 }],
    ["a text that is too long", { text: "x".repeat(401), length: 100 }],
    ["a length that is not offered", { text: "hello", length: 500 }],
  ])("takes nothing for %s", async (_what, input) => {
    await using example = await startExample();
    const code = { data: { code: "BAD_REQUEST" } };
    await expect(example.client.model.ask.mutate(input as never)).rejects.toMatchObject(code);
    expect(await example.left()).toBe(1_200);
  });
});
