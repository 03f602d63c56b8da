/** The messages of all processes, as subscribers of one process get them. */
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { createChatFeed } from "../../../example-app/chat/feed.js";
import type { Message } from "../../../example-app/shared/generated/prisma/client.js";
import { openExampleDatabase } from "../../support/example-database.js";

const INTERVAL = 20;

async function openFeed() {
  const { prisma } = await openExampleDatabase();
  const stop = new AbortController();
  // Runs before the database is closed.
  onTestFinished(async () => {
    stop.abort();
    // The feed notices within an interval, and reads no more.
    await setTimeout(2 * INTERVAL);
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

  return { feed, reads, subscribe, write, stop };
}

const soon = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 5000 });

it("brings messages that another process has written to all subscribers, in one query", async () => {
  const { reads, subscribe, write } = await openFeed();
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
  const { reads, subscribe, write, stop } = await openFeed();
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

it("has no gap before a message that was sent to this process while nobody listened", async () => {
  const { feed, subscribe, write } = await openFeed();
  const texts = Array.from({ length: 40 }, (_, i) => `message ${i + 1}`);
  feed.publish(await write(texts[0]!));
  // These are sent to another process.
  for (const text of texts.slice(1, -1)) await write(text);
  feed.publish(await write(texts.at(-1)!));
  const subscriber = subscribe();
  await soon(() => expect(subscriber.texts).toEqual(texts));
});

it("brings a message of its own process at once, and once", async () => {
  const { feed, reads, subscribe, write } = await openFeed();
  const { texts } = subscribe();
  await soon(() => expect(reads.mock.calls.length).toBeGreaterThan(2));
  feed.publish(await write("mine"));
  await soon(() => expect(texts).toEqual(["mine"]));
  await setTimeout(3 * INTERVAL);
  expect(texts).toEqual(["mine"]);
});

it("brings a message whose id is lower than one that was there before it", async () => {
  const { subscribe, write } = await openFeed();
  const { texts } = subscribe();
  await write("later", 7);
  await soon(() => expect(texts).toEqual(["later"]));
  // As when the transaction that got the lower id commits last.
  await write("earlier", 6);
  await soon(() => expect(texts).toEqual(["later", "earlier"]));
});

it("goes on when the database has failed for a while", async () => {
  const { reads, subscribe, write } = await openFeed();
  const { texts } = subscribe();
  await soon(() => expect(reads.mock.calls.length).toBeGreaterThan(1));
  reads.mockRejectedValueOnce(new Error("out of reach"));
  await write("meanwhile");
  await soon(() => expect(texts).toEqual(["meanwhile"]));
});
