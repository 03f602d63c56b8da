import { createClient } from "@libsql/client";
import { expect, it, onTestFinished } from "vitest";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaClient } from "../../../../../prisma/generated/client/client.js";
import { createRateLimiter, DAY, prismaStore } from "../../../../../server/index.js";
import { createSqlite } from "../../../../support/database.js";

it("keeps what it has granted when the file was locked by another connection meanwhile", async () => {
  await using database = await createSqlite();
  // Without a time-out, the adapter answers SQLITE_BUSY at once.
  const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url: database.url, timeout: 0 }) });
  const other = createClient({ url: database.url });
  onTestFinished(async () => {
    await prisma.$disconnect();
    other.close();
  });
  const limiter = createRateLimiter({
    store: prismaStore(prisma),
    limits: { few: { kind: "fixed window", rate: 10, period: DAY } },
  });
  await limiter.limit("few");

  const lock = await other.transaction("write");
  const waiting = limiter.limit("few");
  await new Promise(setImmediate);
  await lock.rollback();

  expect(await waiting).toMatchObject({ ok: true, value: 8 });
  expect(await limiter.limit("few")).toMatchObject({ ok: true, value: 7 });
  const { rows } = await other.execute(`SELECT used FROM "RateLimit" WHERE name = 'few'`);
  expect(rows).toMatchObject([{ used: 3 }]);
});
