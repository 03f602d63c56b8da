/** Settings that several processes write at their first start. */
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../example-app/shared/server/database.js";
import { saveSetting } from "../../../../example-app/shared/server/settings.js";
import { createPostgresDatabase } from "../../../support/demo-database.js";
import { openExampleDatabase } from "../../../support/example-database.js";

const POSTGRES = process.env["TEST_POSTGRES_URL"];
if (POSTGRES === undefined) console.log("Without TEST_POSTGRES_URL, PostgreSQL is not tried.");
it.runIf(POSTGRES)("has one value, whoever of eight saves it first", async () => {
  const database = await createPostgresDatabase(POSTGRES!);
  onTestFinished(() => database.drop());
  const prisma = await openDatabase(database.url);
  onTestFinished(() => prisma.$disconnect());
  const writers = Array.from({ length: 8 }, (_, i) => String(i));
  for (let round = 0; round < 20; round++) {
    const name = `round ${round}`;
    const values = await Promise.all(writers.map((own) => saveSetting(prisma, name, own)));
    const { value } = await prisma.setting.findUniqueOrThrow({ where: { name } });
    expect(values).toEqual(writers.map(() => value));
  }
});

it("keeps what is there, unless it is told the new value", async () => {
  const { prisma } = await openExampleDatabase();
  expect(await saveSetting(prisma, "name", "first")).toBe("first");
  expect(await saveSetting(prisma, "name", "second")).toBe("first");
  expect(await saveSetting(prisma, "name", "third", { value: "third" })).toBe("third");
});

it("fails as the database does", async () => {
  const { prisma } = await openExampleDatabase();
  await prisma.$executeRawUnsafe(`DROP TABLE "Setting"`);
  await expect(saveSetting(prisma, "name", "value")).rejects.toThrow("no such table");
});
