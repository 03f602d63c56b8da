/** Which adapters `doctor` finds that hide their pool from the store, from the sources alone. */
import { expect, it } from "vitest";
import { checkPrismaPool } from "../../../cli/doctor/check-prisma-pool.js";
import { makeFolder } from "../../support/scaffold.js";

const prisma = (adapter: string) =>
  `export const prisma = new PrismaClient({ adapter: new ${adapter} });\n`;
const STORE = `const limiter = createRateLimiter({ store: prismaStore(prisma), limits });\n`;

async function check(client: string, limits = STORE) {
  await using app = await makeFolder({ "src/db.ts": client, "src/limits.ts": limits });
  return checkPrismaPool(app.root, client.includes("MariaDb") ? "mysql" : "postgresql");
}

it.each([
  `PrismaPg({ connectionString: url })`,
  `PrismaPg("postgresql://localhost/app")`,
  `PrismaPg(process.env.DATABASE_URL!)`,
  `PrismaPg(\n  {\n    connectionString: env.DATABASE_URL,\n  },\n  { schema: "app" },\n)`,
  `PrismaMariaDb({ host: "localhost" })`,
  `PrismaMariaDb(pool)`,
])("names the file and what to do if the pool is hidden: new %s", async (adapter) => {
  expect(await check(prisma(adapter))).toMatchObject([
    {
      check: "prisma-pool",
      level: "warning",
      message: expect.stringContaining("src/db.ts hides its pool") as string,
      advice: expect.stringContaining("pool") as string,
    },
  ]);
});

it("warns if the options of the store name no pool", async () => {
  const limits = `const store = prismaStore(db.prisma, { model: "Limits" });\n`;
  expect(await check(prisma("PrismaPg({ connectionString })"), limits)).toMatchObject([
    { level: "warning" },
  ]);
});

it("is content with a pool that the application has opened", async () => {
  expect(await check(prisma("PrismaPg(pool)"))).toMatchObject([{ level: "ok" }]);
  expect(await check(prisma("PrismaPg(pool, { schema })"))).toMatchObject([{ level: "ok" }]);
  const seed = prisma("PrismaPg({ connectionString })");
  expect(await check(prisma("PrismaPg(pool)") + seed)).toMatchObject([{ level: "ok" }]);
});

it.each([
  ["the store has a pool of its own", prisma("PrismaPg({})"), "prismaStore(prisma, { pool })"],
  [
    "the store was told to have none",
    prisma("PrismaPg({})"),
    "prismaStore(prisma, { pool: false })",
  ],
  ["the options cannot be read", prisma("PrismaPg({})"), "prismaStore(prisma, options)"],
  ["the database is SQLite", prisma("PrismaLibSql({ url })"), STORE],
  ["Prisma has no adapter", `export const prisma = new PrismaClient();`, STORE],
  ["there is no store on Prisma", prisma("PrismaPg({})"), "pgStore(pool)"],
])("says nothing if %s", async (_, client, limits) => {
  expect(await check(client, limits)).toEqual([]);
});
