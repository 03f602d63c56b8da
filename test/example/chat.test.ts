import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { createChatFeed } from "../../example-app/server/chat-feed.js";
import { openDatabase } from "../../example-app/server/database.js";
import { createAppRouter } from "../../example-app/server/router.js";
import type { Message } from "../../example-app/generated/prisma/client.js";

const INTERVAL = 20;

/** What `tracked()` makes, as a caller on the server sees it. */
type Tracked = AsyncIterable<[id: string, messages: { text: string }[]]>;

async function openExample() {
  const folder = await mkdtemp(join(tmpdir(), "chat-"));
  const prisma = await openDatabase(`file:${join(folder, "demo.db")}`);
  const stop = new AbortController();
  onTestFinished(async () => {
    stop.abort();
    // The feed notices within an interval, and reads no more.
    await setTimeout(2 * INTERVAL);
    await prisma.$disconnect();
    await rm(folder, { recursive: true, force: true });
  });
  const reads = vi.spyOn(prisma.message, "findMany");
  const feed = createChatFeed(prisma, INTERVAL);

  /** Collects what a subscriber gets, until `stop`. */
  function subscribe(after = 0, signal = stop.signal) {
    const texts: string[] = [];
    const ended = (async () => {
      for await (const messages of feed.follow(after, signal)) {
        texts.push(...messages.map(({ text }) => text));
      }
    })().catch(() => {});
    return { texts, ended };
  }

  const write = (text: string, id?: number): Promise<Message> =>
    prisma.message.create({ data: { visitor: "ada", text, ...(id !== undefined && { id }) } });

  return { prisma, feed, reads, subscribe, write, stop };
}

const soon = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 5000 });

it("brings messages that another process has written to all subscribers, in one query", async () => {
  const { reads, subscribe, write } = await openExample();
  await write("old");
  const subscribers = Array.from({ length: 50 }, () => subscribe());
  await soon(() => subscribers.forEach(({ texts }) => expect(texts).toEqual(["old"])));
  await write("new");
  await soon(() => subscribers.forEach(({ texts }) => expect(texts).toEqual(["old", "new"])));
  const [before, since] = [reads.mock.calls.length, performance.now()];
  await setTimeout(10 * INTERVAL);
  const intervals = (performance.now() - since) / INTERVAL;
  expect(reads.mock.calls.length - before).toBeGreaterThan(0);
  expect(reads.mock.calls.length - before).toBeLessThanOrEqual(intervals + 1);
});

it("asks the database nothing without subscribers, and catches up for the next one", async () => {
  const { reads, subscribe, write, stop } = await openExample();
  const leaving = new AbortController();
  const first = subscribe(0, leaving.signal);
  await write("one");
  await soon(() => expect(first.texts).toEqual(["one"]));
  leaving.abort();
  await first.ended;
  await setTimeout(3 * INTERVAL);
  const before = reads.mock.calls.length;
  await setTimeout(5 * INTERVAL);
  expect(reads.mock.calls.length).toBe(before);
  await write("two");
  const second = subscribe(0, stop.signal);
  await soon(() => expect(second.texts).toEqual(["one", "two"]));
});

it("brings a message of its own process at once, and once", async () => {
  const { feed, reads, subscribe, write } = await openExample();
  const { texts } = subscribe();
  await soon(() => expect(reads.mock.calls.length).toBeGreaterThan(2));
  feed.publish(await write("mine"));
  await soon(() => expect(texts).toEqual(["mine"]));
  await setTimeout(3 * INTERVAL);
  expect(texts).toEqual(["mine"]);
});

it("brings a message whose id is lower than one that was there before it", async () => {
  const { subscribe, write } = await openExample();
  const { texts } = subscribe();
  await write("later", 7);
  await soon(() => expect(texts).toEqual(["later"]));
  // As when the transaction that got the lower id commits last.
  await write("earlier", 6);
  await soon(() => expect(texts).toEqual(["later", "earlier"]));
});

it("goes on when the database has failed for a while", async () => {
  const { reads, subscribe, write } = await openExample();
  const { texts } = subscribe();
  await soon(() => expect(reads.mock.calls.length).toBeGreaterThan(1));
  reads.mockRejectedValueOnce(new Error("out of reach"));
  await write("meanwhile");
  await soon(() => expect(texts).toEqual(["meanwhile"]));
});

it("gives a page that comes back the messages after the last one that it has", async () => {
  const { prisma, stop, write } = await openExample();
  for (let i = 1; i <= 130; i++) await write(`${i}`);
  const caller = createAppRouter(prisma).createCaller(
    { visitor: "ada", process: 1 },
    { signal: stop.signal },
  );
  async function firstOf(lastEventId?: number): Promise<{ id: string; texts: string[] }> {
    for await (const [id, messages] of (await caller.chat.messages({ lastEventId })) as Tracked) {
      return { id, texts: messages.map(({ text }) => text) };
    }
    throw new Error("no answer");
  }
  const first = await firstOf();
  expect(first.id).toBe("130");
  expect([first.texts.length, first.texts[0], first.texts.at(-1)]).toEqual([100, "31", "130"]);
  const next = await firstOf(128);
  expect(next.texts.slice(-2)).toEqual(["129", "130"]);
  await expect(firstOf(2 ** 40)).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

it("stores a message once that is sent again because its answer was lost", async () => {
  const { prisma } = await openExample();
  const router = createAppRouter(prisma);
  const [ada, bob] = ["ada", "bob"].map((visitor) => router.createCaller({ visitor, process: 1 }));
  const message = { text: "hello", nonce: crypto.randomUUID() };
  const sent = await ada!.chat.send(message);
  expect(await ada!.chat.send(message)).toEqual(sent);
  // A nonce is the visitor's own: another visitor's message is another message.
  expect((await bob!.chat.send(message)).id).not.toBe(sent.id);
  expect(await prisma.message.count()).toBe(2);
});
