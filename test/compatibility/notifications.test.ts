/** Processes of two versions tell each other of changes, on a real PostgreSQL. */
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { postgresChannel } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { loadFixtures } from "./fixtures.js";
import { digestsOf } from "./notifications.js";

async function startChannel() {
  const database = await createPostgres();
  const old = new pg.Client(database.url);
  const channel = postgresChannel(() => new pg.Client(database.url));
  onTestFinished(async () => {
    await channel.close();
    await old.end();
    await database[Symbol.asyncDispose]();
  });
  await old.connect();
  return { channel, old };
}

describe.each(loadFixtures())("a process of version $version", ({ notifications }) => {
  const { digests, digestForm } = notifications;

  it("has the digests of today", () => {
    expect(digestsOf(digests)).toEqual(digests);
  });

  it("accepts the digests of today", () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({ name: "send", key: `user ${i}` }));
    for (const { digest } of digestsOf(many)) expect(digest).toMatch(new RegExp(digestForm));
  });

  it("is heard by a process of today", async () => {
    const { channel, old } = await startChannel();
    const heard = new Set<string>();
    const listening = new Promise<void>((resolve) => {
      channel.subscribe((digest) => {
        heard.add(digest);
        if (heard.size === digests.length) resolve();
      });
    });
    const tell = () =>
      old.query("SELECT pg_notify($1, $2)", [notifications.channel, notifications.payload]);
    // The channel may not listen yet.
    const again = setInterval(() => void tell(), 50);
    await listening;
    clearInterval(again);
    expect([...heard]).toEqual(digests.map(({ digest }) => digest));
  });

  it("hears a process of today", async () => {
    const { channel, old } = await startChannel();
    await old.query(`LISTEN "${notifications.channel}"`);
    const changes = new Promise<unknown[]>((resolve) => {
      old.on("notification", ({ payload = "" }) => {
        const texts: unknown = JSON.parse(payload);
        const [sender, ...rest] = Array.isArray(texts) ? (texts as unknown[]) : [];
        // A channel also sends a message without digests to itself.
        if (typeof sender !== "string" || rest.length > 0) resolve(rest);
      });
    });
    for (const { digest } of digests) void channel.publish(digest);
    expect(await changes).toEqual(digests.map(({ digest }) => digest));
  });
});
