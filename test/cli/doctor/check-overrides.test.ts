import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkOverrides } from "../../../cli/doctor/check-overrides.js";
import type { SqlConnection, SqlRow } from "../../../server/store/sql/driver.js";
import { createPostgres, createSqlite, type TestDatabase } from "../../support/database.js";

const USING = "export const limiter = createRateLimiter({ store, limits, overrides: true });\n";
const NOT_USING = "// overrides: true would need a table.\nconst a = createRateLimiters();\n";
const LIMITS = { name: "RateLimit" };

async function folder(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "doctor-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  return root;
}

function connectionOf({ prisma }: TestDatabase): SqlConnection {
  return {
    query: async (text, params) => await prisma.$queryRawUnsafe<SqlRow[]>(text, ...params),
    execute: async (text, params) => await prisma.$executeRawUnsafe(text, ...params),
  };
}

it.each([
  ["sqlite", createSqlite],
  ["postgresql", () => createPostgres()],
] as const)("misses the table only where overrides are used (%s)", async (dialect, create) => {
  await using database = await create();
  const connection = connectionOf(database);
  const check = async (files: Record<string, string>) => {
    const root = await folder({ "package.json": "{}", ...files });
    return checkOverrides({ root, schema: root }, dialect, connection, LIMITS);
  };
  expect(await check({ "limits.ts": USING })).toMatchObject([{ level: "ok", check: "overrides" }]);
  await database.prisma.$executeRawUnsafe(`DROP TABLE "RateLimitOverride"`);
  expect(await check({ "limits.ts": NOT_USING })).toEqual([]);
  const [missing] = await check({ "limits.ts": USING });
  expect(missing).toMatchObject({ level: "error", check: "overrides-missing" });
  expect(missing!.message).toContain('table "RateLimitOverride" does not exist');
  expect(missing!.advice).toContain("20261123000000_rate_limit_override/migration.sql");

  const provider = `datasource db {\n  provider = "${dialect}"\n}\n`;
  const limits = "model RateLimit {\n  name String\n  @@id([name, key, shard])\n}\n";
  const own = `model Rules {\n  rule String\n  setAt Float\n  @@map("rules")\n}\n`;
  const inSchema = { "limits.ts": USING, "schema.prisma": provider + limits + own };
  const [named] = await check(inSchema);
  expect(named!.message).toContain('table "rules" does not exist');
  expect(named!.advice).toBe("run npx prisma migrate dev, or npx prisma db push");
  await database.prisma.$executeRawUnsafe(`CREATE TABLE "rules" ("name" TEXT, "key" TEXT)`);
  expect(await check(inSchema)).toMatchObject([{ level: "error", check: "overrides-foreign" }]);
});
