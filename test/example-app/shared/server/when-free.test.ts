/** Writes of the demo itself, while another client writes to the same file of SQLite. */
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../example-app/shared/server/database.js";
import { whenFree } from "../../../../example-app/shared/server/when-free.js";
import { createPostgresDatabase } from "../../../support/demo-database.js";
import { openExampleDatabase } from "../../../support/example-database.js";

it("waits for another writer, and what it writes then is there for all clients", async () => {
  const { prisma, connect } = await openExampleDatabase();
  const writer = await connect();
  const save = (name: string) => prisma.setting.create({ data: { name, value: "" } });
  await save("before");
  const writing = writer.$transaction(async (tx) => {
    await tx.message.deleteMany();
    await setTimeout(300);
  });
  await setTimeout(50);
  // Without tries, it fails.
  await expect(save("at once")).rejects.toMatchObject({ code: "P1008" });
  await whenFree(prisma, () => save("tried"));
  await writing;
  await save("after");
  const rows = await writer.setting.findMany({ select: { name: true }, orderBy: { name: "asc" } });
  expect(rows.map(({ name }) => name)).toEqual(["after", "before", "tried"]);
});

it("does not try other errors again", async () => {
  const { prisma } = await openExampleDatabase();
  let tries = 0;
  const write = () => {
    tries++;
    return prisma.setting.create({ data: { name: "twice", value: "" } });
  };
  await whenFree(prisma, write);
  await expect(whenFree(prisma, write)).rejects.toMatchObject({ code: "P2002" });
  expect(tries).toBe(2);
});

const POSTGRES = process.env["TEST_POSTGRES_URL"];
if (POSTGRES === undefined) console.log("Without TEST_POSTGRES_URL, PostgreSQL is not tried.");
it.runIf(POSTGRES)("does not try again what a silent connection may have carried", async () => {
  const database = await createPostgresDatabase(POSTGRES!);
  onTestFinished(() => database.drop());
  const prisma = await openDatabase(database.url);
  let tries = 0;
  const silent = () => {
    tries++;
    return Promise.reject(Object.assign(new Error("silent"), { code: "P1008" }));
  };
  await expect(whenFree(prisma, silent)).rejects.toThrow("silent");
  expect(tries).toBe(1);
  await prisma.$disconnect();
});
