/** The SQL that `init` writes for Supabase, run on PostgreSQL with the roles of Supabase. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/node-postgres";
import { getTableConfig, pgTable, type PgTable } from "drizzle-orm/pg-core";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { tableSql } from "../../../../cli/table-sql.js";
import { drizzleStore } from "../../../../server/drizzle/index.js";
import { createRateLimiter, HOUR, pgStore, RateLimitStoreError } from "../../../../server/index.js";
import { CLIENT, POOL, SCHEMA, TABLES, withPackages } from "../../../support/odd-project.js";
import { faultsOf, findingOf, ROOT, runDoctor } from "../../../support/run-doctor.js";
import { initIn, runInit } from "../../../support/run-init.js";
import { type Folder, makeFolder } from "../../../support/scaffold.js";
import { createSupabase } from "../../../support/supabase.js";

const NOW = Date.UTC(2026, 10, 26, 12, 30, 15);
const ENV = { ".env": "DATABASE_URL=postgresql://a:b@db.abc.supabase.co:5432/postgres\n" };
const PRISMA = {
  "package.json": withPackages("@prisma/client"),
  "prisma/schema.prisma": SCHEMA,
  "src/db.ts": CLIENT,
  ...ENV,
};
const DRIZZLE = {
  "package.json": withPackages("drizzle-orm"),
  "drizzle.config.ts": `export default { schema: "./schema.ts" };\n`,
  "db.ts": "export const db = drizzle(url);\n",
  ...ENV,
};
const PREFIXED = `import { pgTableCreator } from "drizzle-orm/pg-core";

export const createTable = pgTableCreator((name) => \`shop_\${name}\`);
`;

/** The lines that a next step of `init` prints. */
function printedSql(printed: string): string {
  const [lines] = printed.slice(printed.indexOf("-- Any visitor")).split(/\n\n(?=\d+\. )/);
  return lines!.replaceAll(/^ +/gm, "");
}

interface Flavour {
  name: string;
  files: Record<string, string>;
  table: string;
  /** What the tool of the application runs, with the lines that its author adds. */
  sql(app: Folder, printed: string): Promise<string>;
}

const FLAVOURS: Flavour[] = [
  {
    name: "plain SQL",
    files: { "package.json": withPackages("pg"), "src/db.ts": POOL, ...ENV },
    table: "RateLimit",
    sql: (app) => app.read("src/rate-limit.sql"),
  },
  {
    name: "migrations of Supabase's command",
    files: {
      "package.json": withPackages("pg", "@supabase/supabase-js"),
      "src/db.ts": POOL,
      // Of a machine whose clock is ahead.
      "supabase/migrations/20270101000000_init.sql": "SELECT 1;\n",
    },
    table: "RateLimit",
    sql(app, printed) {
      const file = "supabase/migrations/20270101000001_rate_limit.sql";
      expect(printed).toContain(`run the migration ${file}: npx supabase db push`);
      return app.read(file);
    },
  },
  {
    name: "Prisma with another model RateLimit",
    files: {
      ...PRISMA,
      "prisma/schema.prisma": `${SCHEMA}\nmodel RateLimit {\n  id Int @id\n}\n`,
    },
    table: "trpc_rate_limit",
    sql: async (_, printed) =>
      tableSql("postgresql", { table: { name: "trpc_rate_limit" } }) + printedSql(printed),
  },
  {
    name: "Prisma",
    files: PRISMA,
    table: "RateLimit",
    sql: async (_, printed) => tableSql("postgresql") + printedSql(printed),
  },
  {
    name: "Drizzle",
    files: { ...DRIZZLE, "schema.ts": TABLES },
    table: "rate_limits",
    sql: (app, printed) => drizzleSql(app, "rate_limits", printed),
  },
  {
    name: "Drizzle with a prefix",
    files: { ...DRIZZLE, "schema.ts": PREFIXED },
    table: "shop_rate_limits",
    sql: (app, printed) => drizzleSql(app, "shop_rate_limits", printed),
  },
];

/** As drizzle-kit writes it, from what Drizzle itself has read. */
async function drizzleSql(app: Folder, name: string, printed: string): Promise<string> {
  const schema = (await import(/* @vite-ignore */ join(app.root, "schema.ts"))) as Record<
    "rateLimits" | "rateLimitsOverride",
    PgTable
  >;
  const tables = [schema.rateLimits, schema.rateLimitsOverride].map(getTableConfig);
  expect(tables).toMatchObject([
    { name, enableRLS: true },
    { name: `${name}_override`, enableRLS: true },
  ]);
  const secure = tables.map((table) => `ALTER TABLE "${table.name}" ENABLE ROW LEVEL SECURITY;\n`);
  return tableSql("postgresql", { table: { name } }) + secure.join("") + printedSql(printed);
}

const limiterOn = (pool: pg.Pool, table: string) =>
  createRateLimiter({
    store: pgStore(pool, { table }),
    limits: { logIn: { kind: "token bucket", rate: 1, period: HOUR } },
  });

describe.each(FLAVOURS)("init on Supabase, with $name", ({ files, table, sql }) => {
  it("closes the tables to visitors, and the application limits as before", async () => {
    await using app = await makeFolder(files);
    const printed = await runInit(app.root, { now: NOW });
    expect(await runInit(app.root, { now: NOW })).toMatch(/^Nothing to change/);
    await using database = await createSupabase();
    await symlink(join(ROOT, "node_modules"), join(app.root, "node_modules"));
    await database.owner.query(await sql(app, printed));

    const limiter = limiterOn(database.owner, table);
    const logIn = async () => (await limiter.limit("logIn", { key: "ann" })).ok;
    expect([await logIn(), await logIn()]).toEqual([true, false]);
    const overrides = /[A-Z]/.test(table) ? `${table}Override` : `${table}_override`;
    const attempts = [
      `SELECT "key" FROM "${table}"`,
      `DELETE FROM "${table}" WHERE "key" = 'ann'`,
      `UPDATE "${table}" SET "used" = 9`,
      `INSERT INTO "${overrides}" VALUES ('logIn', 'ann', '{}', 9e15, 0)`,
    ];
    for (const attempt of attempts) {
      await expect(database.visitor.query(attempt)).rejects.toThrow(/permission denied for table/);
    }
    expect(await logIn()).toBe(false);
    // It finds the names of the tables in the application.
    const findings = await runDoctor(database.url, { root: app.root, table: undefined });
    expect(findings.filter(({ level }) => level === "error")).toEqual([]);
    expect(findings).toContainEqual(expect.objectContaining({ check: "grants", level: "ok" }));
    const { message } = findingOf(findings, "table");
    expect(message).toBe(`table "${table}" is one of limits`);
  });
});

describe("the tables on Supabase without that", () => {
  it("let any visitor read keys, delete a denial and insert an override, and doctor fails", async () => {
    await using database = await createSupabase();
    await database.owner.query(tableSql("postgresql"));
    const limiter = limiterOn(database.owner, "RateLimit");
    const logIn = async () => (await limiter.limit("logIn", { key: "ann" })).ok;
    expect([await logIn(), await logIn()]).toEqual([true, false]);
    const { rows } = await database.visitor.query('SELECT "key" FROM "RateLimit"');
    expect(rows).toEqual([{ key: "ann" }]);
    await database.visitor.query('DELETE FROM "RateLimit"');
    await database.visitor.query(
      `INSERT INTO "RateLimitOverride" VALUES ('logIn', 'ann', '{}', 9e15, 0)`,
    );
    expect(await logIn()).toBe(true);
    expect(faultsOf(await runDoctor(database.url))).toEqual(["error grants", "error grants"]);
  });
});

describe("row-level security", () => {
  it("hides the rows when rights are granted anew, and fails calls of a role that sees none", async () => {
    await using database = await createSupabase();
    await database.owner.query(tableSql("postgresql", { closedTo: ["anon", "authenticated"] }));
    const key = "ann";
    await limiterOn(database.owner, "RateLimit").limit("logIn", { key });
    await database.owner.query('GRANT ALL ON "RateLimit", "RateLimitOverride" TO anon');
    const deleted = await database.visitor.query('DELETE FROM "RateLimit"');
    expect(deleted.rowCount).toBe(0);
    await expect(
      database.visitor.query(`INSERT INTO "RateLimit" VALUES ('logIn', 'bob', 0, 9, 0)`),
    ).rejects.toThrow(/row-level security/);
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
    // An application that connects by a wrong role grants nothing.
    const wrong = limiterOn(database.visitor, "RateLimit");
    await expect(wrong.limit("logIn", { key })).rejects.toThrow(RateLimitStoreError);
  });
});

it("writes no such lines where nothing speaks of Supabase, or of PostgreSQL", async () => {
  for (const [files, file] of [
    [{ "package.json": withPackages("pg"), "src/db.ts": POOL }, "src/rate-limit.sql"],
    [{ "package.json": withPackages("mysql2"), ...ENV }, "server/rate-limit.sql"],
    [{ ...PRISMA, ".env": "" }, "prisma/schema.prisma"],
    [{ ...DRIZZLE, ".env": "", "schema.ts": TABLES }, "schema.ts"],
  ] as const) {
    await using app = await makeFolder(files);
    const printed = await runInit(app.root, { now: NOW });
    expect(`${await app.read(file)}${printed}`).not.toMatch(/REVOKE|ROW LEVEL|enableRLS/);
  }
});

it("leaves Drizzle before 0.36, which has no row-level security, to the printed lines", async () => {
  const old = withPackages("drizzle-orm").replace('"*"', '"^0.33.0"');
  await using app = await initIn({ ...DRIZZLE, "package.json": old, "schema.ts": TABLES });
  expect(await app.read("schema.ts")).not.toContain("enableRLS");
  expect(printedSql(app.printed)).toContain(
    'ALTER TABLE "rate_limits_override" ENABLE ROW LEVEL SECURITY;',
  );
});

it("gives a store tables of a type that it takes", () => {
  const table = pgTable("rate_limits", (d) => ({
    name: d.text().notNull(),
    key: d.text().notNull().default(""),
    shard: d.integer().notNull().default(0),
    used: d.doublePrecision().notNull(),
    ts: d.doublePrecision().notNull(),
  })).enableRLS();
  const pool = new pg.Pool({ max: 1 });
  expect(() => drizzleStore(drizzle(pool), { table })).not.toThrow();
});
