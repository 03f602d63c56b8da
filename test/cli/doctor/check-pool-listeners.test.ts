/** Pools without a listener for their errors, which `doctor` finds in the sources alone. */
import { expect, it } from "vitest";
import { checkPools } from "../../../cli/doctor/check-pool-listeners.js";
import { makeFolder } from "../../support/scaffold.js";

const POOL = `import pg from "pg";\nexport const pool = new pg.Pool({ max: 3 });\n`;
const server = (name: string) => `import { ${name} } from "trpc-rate-limit/server";\n`;

it.each([
  {
    by: "pgStore, in another file",
    files: {
      "src/db.ts": POOL,
      "src/limits.ts": `${server("pgStore")}import { pool } from "./db.js";\nconst store = pgStore(pool);\n`,
    },
  },
  {
    by: "pgStore, from an index by an alias, as a property",
    files: {
      "src/db/index.ts": POOL,
      "src/limits.ts": `${server("pgStore")}import * as db from "~/db";\nconst store = pgStore(db.pool);\n`,
    },
  },
  {
    by: "pgStore, in the same line",
    files: {
      "limits.ts": `import { Pool } from "pg";\n${server("pgStore")}pgStore(new Pool());\n`,
    },
  },
  {
    by: "kyselyStore",
    files: {
      "db.ts": `${POOL}const db = new Kysely({ dialect });\nconst store = kyselyStore(db, { pool });\n`,
    },
  },
  {
    by: "drizzleStore, through Drizzle",
    files: {
      "src/db.ts": `${POOL}export const db = drizzle({ client: pool, schema });\n`,
      "src/limits.ts": `const store = drizzleStore(db, { table });\n`,
    },
  },
  {
    by: "prismaStore, through Prisma's adapter",
    files: {
      "src/db.ts": `${POOL}export const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });\n`,
      "src/limits.ts": `const store = prismaStore(prisma);\n`,
    },
  },
])("is content with a pool that $by listens to", async ({ files }) => {
  await using app = await makeFolder(files as Record<string, string>);
  expect(await checkPools(app.root)).toMatchObject([{ level: "ok" }]);
});

it.each([
  {
    pool: "of Drizzle, without a store",
    files: { "src/db.ts": `${POOL}export const db = drizzle(pool);\n` },
  },
  {
    pool: "with the name of one that a store has",
    files: {
      "src/db.ts": POOL,
      "src/jobs.ts": POOL,
      "src/limits.ts": `import { pool } from "./db.js";\nconst store = pgStore(pool);\n`,
    },
    silent: "src/jobs.ts",
  },
  {
    pool: "beside one that a store has",
    files: { "src/db.ts": `${POOL}const jobs = new pg.Pool();\nconst store = pgStore(pool);\n` },
  },
])("finds a pool $pool", async ({ files, silent = "src/db.ts" }) => {
  await using app = await makeFolder(files as Record<string, string>);
  const [finding] = await checkPools(app.root);
  expect(finding).toMatchObject({
    level: "warning",
    message: `a pg.Pool is opened without a listener to its errors, in ${silent}`,
  });
  expect(finding!.advice).not.toContain("kysely");
});

it("advises on kyselyStore where Kysely has the pool", async () => {
  await using app = await makeFolder({
    "db.ts": `import { Kysely } from "kysely";\n${POOL}const store = kyselyStore(db);\n`.replace(
      "const pool",
      "const own",
    ),
  });
  const [finding] = await checkPools(app.root);
  expect(finding!.advice).toContain("give it to kyselyStore as pool");
});

it("leaves alone a pool that only a comment opens", async () => {
  const comment = `import pg from "pg";\n  /**\n   * const pool = new pg.Pool();\n   */\n// new pg.Pool()\n`;
  const globs = `const files = ["src/**/*.ts"];\n`;
  await using app = await makeFolder({ "db.ts": comment + globs });
  expect(await checkPools(app.root)).toEqual([]);
  await using other = await makeFolder({ "db.ts": comment + globs + POOL });
  expect(await checkPools(other.root)).toMatchObject([{ level: "warning" }]);
});
