/** The chat's API: a page that comes back misses nothing, and nothing is stored twice. */
import { expect, it, onTestFinished } from "vitest";
import { createAppRouter } from "../../../example-app/shared/server/router.js";
import { openExampleDatabase } from "../../support/example-database.js";

/** What `tracked()` makes, as a caller on the server sees it. */
type Tracked = AsyncIterable<[id: string, messages: { text: string }[]]>;

it("gives a page that comes back the messages after the last one that it has", async () => {
  const { prisma } = await openExampleDatabase();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  for (let i = 1; i <= 130; i++) {
    await prisma.message.create({ data: { visitor: "ada", text: `${i}` } });
  }
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

it("stores a message once that is sent again because its answer was lost, and takes one token", async () => {
  const { prisma } = await openExampleDatabase();
  const router = createAppRouter(prisma);
  const [ada, bob] = ["ada", "bob"].map((visitor) => router.createCaller({ visitor, process: 1 }));
  const message = { text: "hello", nonce: crypto.randomUUID() };
  const sent = await ada!.chat.send(message);
  // More often than the limit allows messages.
  for (let again = 1; again <= 5; again++) expect(await ada!.chat.send(message)).toEqual(sent);
  const left = await ada!.rateLimit.status({ name: "sendMessage" });
  expect(left.value).toBeGreaterThanOrEqual(2);
  // A nonce is the visitor's own: another visitor's message is another message.
  expect((await bob!.chat.send(message)).id).not.toBe(sent.id);
  expect(await prisma.message.count()).toBe(2);
});
