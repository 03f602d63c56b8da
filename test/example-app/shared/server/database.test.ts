import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLimiter } from "../../../../example-app/shared/server/limiter.js";
import { openExampleDatabase } from "../../../support/example-database.js";

it("migrates an empty file once, and finds it migrated the next time", async () => {
  const { prisma, connect } = await openExampleDatabase();
  const history = () => prisma.$queryRaw<unknown[]>`SELECT "id" FROM "_prisma_migrations"`;
  const before = await history();
  expect(before.length).toBeGreaterThan(0);
  await connect();
  expect(await history()).toEqual(before);
});

it("a call waits for another writer of the file without blocking the process", async () => {
  const { prisma, connect } = await openExampleDatabase();
  const writer = await connect();
  const limiter = createLimiter(prisma);
  await limiter.check("sendMessage", { key: "ada" });
  // It ends by a timer of this process, which has to run while the call waits.
  const writing = writer.$transaction(async (tx) => {
    await tx.message.deleteMany();
    await setTimeout(300);
  });
  await setTimeout(50);
  expect(await limiter.limit("sendMessage", { key: "ada" })).toMatchObject({ ok: true });
  await writing;
});
