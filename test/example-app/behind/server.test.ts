/** The reads and the rights of the part behind the others, without a browser. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../../example-app/shared/server/database.js";
import { createAppRouter } from "../../../example-app/shared/server/router.js";

afterEach(() => void vi.unstubAllEnvs());

async function startRouter() {
  const folder = await mkdtemp(join(tmpdir(), "behind-"));
  const prisma = await openDatabase(`file:${join(folder, "test.db")}`);
  let reads = 0;
  const counted = prisma.$extends({
    query: {
      visitor: {
        findMany({ args, query }) {
          reads++;
          return query(args);
        },
      },
    },
  });
  const router = createAppRouter(counted as unknown as typeof prisma);
  return {
    prisma,
    /** How often the rows have been read so far. */
    reads: () => reads,
    caller: (visitor: string, process = 1) => router.createCaller({ visitor, process }),
    async [Symbol.asyncDispose]() {
      await prisma.$disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Caller = Awaited<ReturnType<typeof startRouter>>["caller"];

/** The first `count` reads that a visitor gets. */
async function read(caller: ReturnType<Caller>, count: number) {
  const seen = [];
  for await (const rows of await caller.behind.rows()) {
    seen.push(rows);
    if (seen.length === count) break;
  }
  return seen;
}

describe("the rows", () => {
  it("are read once a second for all who look", async () => {
    await using app = await startRouter();
    const visitors = ["ada", "bob", "cyd", "dan", "eve"];
    const seen = await Promise.all(visitors.map((visitor) => read(app.caller(visitor), 2)));
    expect(seen.flat()).toHaveLength(10);
    // Two seconds, and one more if the first reads were spread over its end.
    expect(app.reads()).toBeLessThanOrEqual(3);
  });

  it("mark the failed log-ins of a visitor, and a reset forgets them, too", async () => {
    await using app = await startRouter();
    const [ada, bob] = [app.caller("ada"), app.caller("bob")];
    for (const visitor of [ada, bob]) {
      const attempt = visitor.logIn.attempt({ account: "demo", password: "wrong" });
      await expect(attempt).rejects.toThrow("Wrong account or password");
    }
    const [seen] = await read(ada, 1);
    expect(seen!.rows.map(({ name, mine }) => [name, mine])).toEqual([
      ["logIn", true],
      ["logIn", false],
    ]);
    expect(await ada.behind.reset()).toEqual({ process: 1, rows: 1 });
    const [, after] = await read(ada, 2);
    expect(after!.rows.map(({ mine }) => mine)).toEqual([false]);
  });

  it("say which process has read them, whose they are, and no whole key of another visitor", async () => {
    await using app = await startRouter();
    const [ada, bob] = ["ada-0123456789", "bob-0123456789"];
    for (const visitor of [bob, ada])
      await app.caller(visitor).chat.send({ text: "hello", nonce: randomUUID() });
    const [seen] = await read(app.caller(bob, 2), 1);
    expect(seen).toMatchObject({
      process: 2,
      hasMore: false,
      rows: [
        { name: "sendMessage", key: "bob-…6789", mine: true, value: 2 },
        { name: "sendMessage", key: "ada-…6789", mine: false, value: 2 },
      ],
    });
    expect(JSON.stringify(seen)).not.toContain(ada);
  });

  it("name the pretended customers as they are", async () => {
    await using app = await startRouter();
    await app.caller("customer 10").chat.send({ text: "hello", nonce: randomUUID() });
    const [seen] = await read(app.caller("bob-0123456789"), 1);
    expect(seen!.rows.map(({ key }) => key)).toEqual(["customer 10"]);
  });

  it("have the config of a visitor's plan", async () => {
    await using app = await startRouter();
    const row = { name: "llmTokens", key: "ada", used: 0, ts: Date.now() };
    await app.prisma.rateLimit.create({ data: row });
    await app.prisma.visitor.create({ data: { id: "ada", plan: "paid" } });
    const [seen] = await read(app.caller("ada"), 1);
    expect(seen!.rows).toMatchObject([{ value: 12_000, config: { rate: 12_000 } }]);
  });
});

describe("a reset", () => {
  it("deletes the visitor's own rows", async () => {
    await using app = await startRouter();
    for (const visitor of ["ada", "bob"])
      await app.caller(visitor).chat.send({ text: "hello", nonce: randomUUID() });
    // The row of the bucket, and that of the message's id.
    await expect(app.caller("ada").behind.reset()).resolves.toEqual({ process: 1, rows: 2 });
    const where = { name: "sendMessage" };
    expect(await app.prisma.rateLimit.findMany({ where })).toMatchObject([{ key: "bob" }]);
  });

  it("is forbidden in production", async () => {
    vi.stubEnv("NODE_ENV", "production");
    await using app = await startRouter();
    const ada = app.caller("ada");
    await ada.chat.send({ text: "hello", nonce: randomUUID() });
    await expect(ada.behind.reset()).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await app.prisma.rateLimit.count({ where: { name: "sendMessage" } })).toBe(1);
    await expect(ada.behind.processes()).resolves.toMatchObject({ canReset: false, process: 1 });
  });
});

it("counts what this process has granted and denied", async () => {
  await using app = await startRouter();
  const ada = app.caller("ada");
  for (let i = 0; i < 3; i++) await ada.chat.send({ text: "hello", nonce: randomUUID() });
  await expect(ada.chat.send({ text: "hello", nonce: randomUUID() })).rejects.toMatchObject({
    code: "TOO_MANY_REQUESTS",
  });
  const { all } = await ada.behind.processes();
  expect(all).toHaveLength(1);
  const { decisions, callsPerBatch, conflicts } = all[0]!;
  expect(decisions).toContainEqual({ name: "sendMessage", granted: 3, denied: 1 });
  expect({ callsPerBatch, conflicts }).toEqual({ callsPerBatch: 1, conflicts: 0 });
});
