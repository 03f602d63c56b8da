/** Transactions of Prisma on a file that another process writes to, through the adapter for libsql. */
import { createClient } from "@libsql/client";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { expect, it, onTestFinished } from "vitest";
import { PrismaClient } from "../../../../../prisma/generated/client/client.js";
import { createRateLimiter, DAY, prismaStore } from "../../../../../server/index.js";
import { createSqlite } from "../../../../support/database.js";

const limits = { few: { kind: "fixed window", rate: 100, period: DAY } } as const;

async function setUp(mode: string, timeout: number) {
  const database = await createSqlite();
  await database.prisma.$queryRawUnsafe(`PRAGMA journal_mode = ${mode}`);
  await database.prisma.$disconnect();
  const processes = [1, 2, 3].map(() => {
    const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url: database.url, timeout }) });
    return { prisma, limiter: createRateLimiter({ store: prismaStore(prisma), limits }) };
  });
  const other = createClient({ url: database.url });
  onTestFinished(async () => {
    await Promise.all(processes.map(({ prisma }) => prisma.$disconnect()));
    other.close();
    await database[Symbol.asyncDispose]();
  });
  const committed = async () => {
    const { rows } = await other.execute(`SELECT used FROM "RateLimit" WHERE name = 'few'`);
    return rows[0]!["used"];
  };
  return { processes, other, committed };
}

it.each(["DELETE", "WAL"])(
  "goes on after transactions that met another writer, and lets others write (%s)",
  async (mode) => {
    const { processes, other, committed } = await setUp(mode, 0);
    const [{ prisma, limiter }] = processes as [(typeof processes)[number]];
    await limiter.limit("few");
    const transaction = (retryFor?: number) =>
      limiter.transaction(({ limit }) => limit("few"), retryFor === undefined ? {} : { retryFor });
    for (let conflicts = 0; conflicts < 3; conflicts++) {
      const lock = await other.transaction("write");
      await expect(transaction(0)).rejects.toThrow(/locked/);
      await lock.commit();
    }
    expect(await transaction()).toMatchObject({ ok: true, value: 98 });
    expect(await limiter.limit("few")).toMatchObject({ ok: true, value: 97 });
    await prisma.$transaction((tx) => tx.$executeRaw`UPDATE "RateLimit" SET ts = ts`);
    await other.execute(`UPDATE "RateLimit" SET ts = ts`);
    expect(await committed()).toBe(3);
  },
);

it("says what to do if a transaction cannot commit because another process reads", async () => {
  const { processes, other } = await setUp("DELETE", 0);
  const [{ limiter }] = processes as [(typeof processes)[number]];
  await limiter.limit("few");
  const reading = await other.transaction("read");
  await reading.execute(`SELECT * FROM "RateLimit"`);
  const message = /run PRAGMA journal_mode = WAL once/;
  await expect(limiter.transaction(({ limit }) => limit("few"))).rejects.toThrow(message);
  await reading.commit();
});

// With a time-out of 5 s, a wait for a lock of this process would block it for as long.
it.each([0, 5000])("counts each transaction of several clients once (%s ms)", async (timeout) => {
  const { processes, committed } = await setUp("WAL", timeout);
  const results = await Promise.all(
    processes.flatMap(({ limiter }) =>
      Array.from({ length: 10 }, () => limiter.transaction(({ limit }) => limit("few"))),
    ),
  );
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(await committed()).toBe(30);
});

it("commits what the function has written together with the tokens, or rolls both back", async () => {
  const { processes, committed } = await setUp("WAL", 0);
  const [{ prisma, limiter }] = processes as [(typeof processes)[number]];
  const write = (name: string, fails: boolean) =>
    limiter.transaction(async ({ tx, limit }) => {
      await limit("few");
      await tx.rateLimit.create({ data: { name, key: "", shard: 0, used: 0, ts: 0 } });
      if (fails) throw new Error("it failed");
      return name;
    });
  expect(await write("kept", false)).toBe("kept");
  await expect(write("lost", true)).rejects.toThrow("it failed");
  expect(await prisma.rateLimit.count({ where: { name: { in: ["kept", "lost"] } } })).toBe(1);
  expect(await committed()).toBe(1);
});
