/** Adapters that hide their pool from the store, which `doctor` finds in the sources alone. */
import { expect, it } from "vitest";
import { checkPools } from "../../../cli/doctor/check-pool-listeners.js";
import { checkPrismaPool } from "../../../cli/doctor/check-prisma-pool.js";
import { makeFolder } from "../../support/scaffold.js";

const prisma = (adapter: string) =>
  `export const prisma = new PrismaClient({ adapter: new ${adapter} });\n`;
const STORE = `const limiter = createRateLimiter({ store: prismaStore(prisma), limits });\n`;

async function check(client: string, limits = STORE) {
  await using app = await makeFolder({ "src/db.ts": client, "src/limits.ts": limits });
  return await checkPrismaPool(app.root, client.includes("MariaDb") ? "mysql" : "postgresql");
}

it.each([
  `PrismaPg({ connectionString: url })`,
  `PrismaPg("postgresql://localhost/app")`,
  `PrismaPg(process.env.DATABASE_URL!)`,
  `PrismaPg(\n  {\n    connectionString: env.DATABASE_URL,\n  },\n  { schema: "app" },\n)`,
])("says what a hidden pool costs, and the option to write: new %s", async (adapter) => {
  const [finding, ...others] = await check(prisma(adapter));
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ check: "prisma-pool", level: "advice" });
  expect(finding!.message).toBe(
    "limits work, and go through Prisma: PrismaPg in src/db.ts keeps its pool to itself. " +
      "On a pool, a lone call takes 0.6 of the time",
  );
  expect(finding!.advice).toContain('write prismaStore(prisma, { pool: "own" }); to keep it so,');
});

it.each([`PrismaMariaDb({ host: "localhost" })`, `PrismaMariaDb(pool)`])(
  "says which pool the store can have beside new %s",
  async (adapter) => {
    expect(await check(prisma(adapter))).toMatchObject([
      { level: "advice", advice: expect.stringContaining("a small pool of mysql2 or mariadb") },
    ]);
  },
);

it("advises if the options of the store name no pool", async () => {
  const limits = `const store = prismaStore(db.prisma, { model: "Limits" });\n`;
  expect(await check(prisma("PrismaPg({ connectionString })"), limits)).toMatchObject([
    { level: "advice" },
  ]);
});

it("has nothing more to say, of listeners neither, once its line is written", async () => {
  const client = `import pg from "pg";\n${prisma("PrismaPg(new pg.Pool({ connectionString: url }))")}`;
  expect(await check(client)).toMatchObject([{ level: "ok" }]);
  await using app = await makeFolder({ "src/db.ts": client, "src/limits.ts": STORE });
  expect(await checkPools(app.root)).toMatchObject([{ level: "ok" }]);
});

it("is content with a pool that the application has opened", async () => {
  expect(await check(prisma("PrismaPg(pool)"))).toMatchObject([{ level: "ok" }]);
  expect(await check(prisma("PrismaPg(pool, { schema })"))).toMatchObject([{ level: "ok" }]);
  const seed = prisma("PrismaPg({ connectionString })");
  expect(await check(prisma("PrismaPg(pool)") + seed)).toMatchObject([{ level: "ok" }]);
});

it.each([
  ["the store has a pool of its own", prisma("PrismaPg({})"), "prismaStore(prisma, { pool })"],
  ["the store has opened one", prisma("PrismaPg({})"), 'prismaStore(prisma, { pool: "own" })'],
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
