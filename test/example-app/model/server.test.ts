/** The pretend language model over HTTP: estimates, a queue, plans, credits, clients that go away. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTRPCClient, httpBatchStreamLink } from "@trpc/client";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../example-app/shared/server/app.js";
import { openDatabase } from "../../../example-app/shared/server/database.js";
import type { ModelEvent } from "../../../example-app/model/answer-prompt.js";
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
    /** The credits that the visitor has. */
    async credits() {
      return (await client.rateLimit.status.query({ name: "credits" })).value;
    },
    /** The slots that are free. */
    async slots() {
      return (await client.rateLimit.status.query({ name: "generations" })).value;
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

/** The tokens that come back in a ms. */
const RATE = 1_200 / 60_000;

/** Measures how much may have come back since then, which is more on a slow machine. */
function startRefill(): () => number {
  const startedAt = performance.now();
  // The server's clock has whole ms.
  return () => (performance.now() - startedAt + 2) * RATE;
}

/** Asks, and reads the answer in the background until `stop`. */
async function ask(
  { client }: Example,
  text: string,
  length: 100 | 1_000 | 10_000,
  how: "ask" | "askNow" = "ask",
) {
  const stream = new AbortController();
  const events: ModelEvent[] = [];
  const answer = await client.model[how].mutate({ text, length }, { signal: stream.signal });
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
    const refilled = startRefill();
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
    expect(returned).toBeGreaterThanOrEqual(Math.floor(Math.min(70, 103 - refilled())));
    expect(returned).toBeLessThanOrEqual(70);
  });

  it("writes no more words than were asked for", async () => {
    await using example = await startExample();
    const { events, end } = await ask(example, "a b c d e f g h i j k", 100);
    await end;
    expect(events.filter(({ kind }) => kind === "word")).toHaveLength(100);
    const bill = { kind: "bill", estimated: 111, used: 111, returned: 0, paid: "llmTokens" };
    expect(events.at(-1)).toEqual(bill);
  });

  it("lets prompts queue in their order, and gives back the tokens of the last one", async () => {
    await using example = await startExample();
    const refilled = startRefill();
    const first = await ask(example, "one", 1_000);
    const second = await ask(example, "two", 1_000);
    const third = await ask(example, "three", 1_000);
    await soon(() => expect(third.kinds()).toEqual(["queued"]));
    expect(second.kinds()).toEqual(["queued"]);
    // 802 and 1,803 tokens are missing, but for those that have come meanwhile.
    for (const [{ wait }, missing] of [
      [second, 802],
      [third, 1_803],
    ] as const) {
      expect(wait() * RATE).toBeLessThanOrEqual(missing + RATE);
      expect(wait() * RATE).toBeGreaterThan(missing - refilled());
    }
    const left = await example.left();
    expect(left).toBeLessThan(-1_803 + refilled());
    third.stop();
    await expect.poll(example.left, { timeout: 5_000 }).toBeGreaterThan(-802);
    expect(second.kinds()).toEqual(["queued"]);
    for (const { stop } of [first, second]) stop();
  });

  it("answers two prompts at a time, and the next one when a slot is free", async () => {
    await using example = await startExample();
    const text = "one two three four five six seven eight nine ten";
    const first = await ask(example, text, 100);
    const second = await ask(example, text, 100);
    for (const { kinds } of [first, second]) await soon(() => expect(kinds()).toContain("word"));
    expect(await example.slots()).toBe(0);
    const third = await ask(example, text, 100);
    await soon(() => expect(third.kinds()).toEqual(["waiting"]));
    const fourth = await ask(example, text, 100);
    await soon(() => expect(fourth.kinds()).toEqual(["waiting"]));
    // It leaves the line, and its tokens come back.
    const before = await example.left();
    third.stop();
    await expect.poll(example.left, { timeout: 5_000 }).toBeGreaterThan(before + 90);
    first.stop();
    await soon(() => expect(fourth.kinds()).toEqual(["waiting", "running", "word"]));
    expect(third.kinds()).toEqual(["waiting"]);
    await Promise.all([second.end, fourth.end]);
    expect(fourth.events.at(-1)).toMatchObject({ kind: "bill", used: 110 });
    await expect.poll(example.slots).toBe(2);
  });

  it("ends an answer whose slot is lost, without a bill", async () => {
    await using example = await startExample();
    const text = Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ");
    const { events, end, kinds } = await ask(example, text, 1_000);
    await soon(() => expect(kinds()).toContain("word"));
    await example.client.behind.reset.mutate();
    // It learns of it when it renews its slot. The whole answer takes 20 s.
    await end;
    expect(kinds()).toEqual(["running", "word"]);
    expect(events.length).toBeLessThan(400);
    expect(await example.slots()).toBe(2);
  });

  it("needs no slot for a prompt in the queue", async () => {
    await using example = await startExample();
    const first = await ask(example, "one two three four five six", 1_000);
    const queued = await ask(example, "two", 1_000);
    await soon(() => expect(queued.kinds()).toEqual(["queued"]));
    await soon(() => expect(first.kinds()).toContain("word"));
    expect(await example.slots()).toBe(1);
    for (const { stop } of [first, queued]) stop();
  });

  it("gives back what a client that goes away in the middle of an answer has not used", async () => {
    await using example = await startExample();
    const { kinds, stop } = await ask(example, "one two three four five six seven", 1_000);
    await soon(() => expect(kinds()).toContain("word"));
    expect(await example.left()).toBeLessThan(300);
    stop();
    await expect.poll(example.left, { timeout: 3_000 }).toBeGreaterThan(1_100);
  });

  it.each([
    ["asks", "ask"],
    ["asks to be answered now", "askNow"],
  ] as const)(
    "gives all tokens back to a client that %s, and goes away at once",
    async (_what, how) => {
      await using example = await startExample();
      for (const delay of [0, 1, 2, 4, 6, 8, 10, 12, 15, 20]) {
        const signal = AbortSignal.timeout(delay);
        const call = example.client.model[how].mutate({ text: "one", length: 100 }, { signal });
        const reading = call.then(async (events) => {
          for await (const _ of events);
        });
        await expect(reading).rejects.toThrow("abort");
      }
      await expect.poll(example.left, { timeout: 3_000 }).toBeGreaterThan(1_150);
    },
  );

  it("denies a prompt for which the queue has no room, and takes nothing for it", async () => {
    await using example = await startExample();
    const refilled = startRefill();
    const open = [];
    for (const text of ["one", "two", "three"]) open.push(await ask(example, text, 1_000));
    const before = await example.left();
    const denied = await ask(example, "four", 1_000).catch((error: unknown) => error);
    const { data } = denied as { data: { code: string; rateLimit: { retryAfter: number } } };
    expect(data.code).toBe("TOO_MANY_REQUESTS");
    // 404 tokens more than may be reserved.
    expect(data.rateLimit.retryAfter * RATE).toBeLessThanOrEqual(404 + RATE);
    expect(data.rateLimit.retryAfter * RATE).toBeGreaterThan(404 - refilled());
    expect(await example.left()).toBeGreaterThanOrEqual(before);
    for (const { stop } of open) stop();
  });

  it("has other words for a prompt that can never run, and runs it on the paid plan", async () => {
    await using example = await startExample();
    const code = { data: { code: "PAYLOAD_TOO_LARGE" } };
    await expect(ask(example, "one", 10_000)).rejects.toMatchObject(code);
    await example.client.model.changePlan.mutate({ plan: "paid" });
    // A bucket that was never used is full by any plan.
    const { kinds, stop } = await ask(example, "one", 10_000);
    await soon(() => expect(kinds()).toEqual(["running", "word"]));
    stop();
  });

  it("runs a prompt sooner when its visitor pays while it waits", async () => {
    await using example = await startExample();
    const first = await ask(example, "one", 1_000);
    const second = await ask(example, "two", 1_000);
    await soon(() => expect(second.wait()).toBeGreaterThan(30_000));
    await example.client.model.changePlan.mutate({ plan: "paid" });
    await soon(() => expect(second.wait()).toBeLessThan(4_100));
    await example.client.model.changePlan.mutate({ plan: "free" });
    await soon(() => expect(second.wait()).toBeLessThan(4_100));
    await example.client.model.changePlan.mutate({ plan: "paid" });
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

describe("the credits", () => {
  const bill = ({ events }: Awaited<ReturnType<typeof ask>>) =>
    events.find((event) => event.kind === "bill");

  it("are there once for each id that a purchase sends, however often it is sent", async () => {
    await using example = await startExample();
    const { buyCredits } = example.client.model;
    expect(await example.credits()).toBe(0);
    await Promise.all([buyCredits.mutate({ id: "first" }), buyCredits.mutate({ id: "first" })]);
    await buyCredits.mutate({ id: "first" });
    expect(await example.credits()).toBe(2_000);
    await buyCredits.mutate({ id: "second" });
    expect(await example.credits()).toBe(4_000);
  });

  it("pay when the plan cannot, and get back what is not used", async () => {
    await using example = await startExample();
    await example.client.model.buyCredits.mutate({ id: "first" });
    const first = await ask(example, "one two three four five six seven", 1_000);
    const second = await ask(example, "one two three four", 1_000, "askNow");
    await soon(() => expect(second.kinds()).toEqual(["running", "word"]));
    expect(await example.credits()).toBe(996);
    await second.end;
    const paid = { kind: "bill", estimated: 1_004, used: 44, returned: 960, paid: "credits" };
    expect(bill(second)).toEqual(paid);
    expect(await example.credits()).toBe(1_956);
    await first.end;
    expect(bill(first)).toMatchObject({ paid: "llmTokens" });
    expect(await example.credits()).toBe(1_956);
  });

  it("stay while the plan has the tokens", async () => {
    await using example = await startExample();
    await example.client.model.buyCredits.mutate({ id: "first" });
    const asked = await ask(example, "one", 1_000, "askNow");
    await asked.end;
    expect(bill(asked)).toMatchObject({ used: 11, paid: "llmTokens" });
    expect(await example.credits()).toBe(2_000);
  });

  it("come back to a client that goes away in the middle of an answer", async () => {
    await using example = await startExample();
    await example.client.model.buyCredits.mutate({ id: "first" });
    const text = "one two three four five six seven";
    const first = await ask(example, text, 1_000);
    const { kinds, stop } = await ask(example, text, 1_000, "askNow");
    await soon(() => expect(kinds()).toContain("word"));
    expect(await example.credits()).toBe(993);
    stop();
    // It pays for its prompt, and for the words that were written by then.
    await expect.poll(example.credits, { timeout: 3_000 }).toBeGreaterThan(1_920);
    expect(await example.credits()).toBeLessThan(1_993);
    first.stop();
  });

  it("deny a prompt that neither they nor the plan can pay for, and lose nothing", async () => {
    await using example = await startExample();
    await example.client.model.buyCredits.mutate({ id: "first" });
    const open = [await ask(example, "one two three four", 1_000)];
    open.push(await ask(example, "one two three four", 1_000, "askNow"));
    const denied = ask(example, "three", 1_000, "askNow");
    await expect(denied).rejects.toMatchObject({ data: { code: "TOO_MANY_REQUESTS" } });
    expect(await example.credits()).toBe(996);
    for (const { stop } of open) stop();
  });
});
