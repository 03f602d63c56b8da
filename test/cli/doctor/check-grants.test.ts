/** `doctor` on databases that give visitors rights on the tables, as Supabase does. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connectPostgres } from "../../support/clients.js";
import { createPostgres } from "../../support/database.js";
import { faultsOf, findingOf, ROOT, runDoctor } from "../../support/run-doctor.js";

/**
 * The roles of Supabase. Roles belong to the server, so those of other tests may be there already, and
 * they stay.
 */
const ROLES = `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(39);
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'anon') THEN
    CREATE ROLE anon NOLOGIN; CREATE ROLE authenticated NOLOGIN;
  END IF;
END $$`;

async function open(...statements: string[]) {
  const database = await createPostgres();
  for (const statement of [ROLES, ...statements]) {
    await database.prisma.$executeRawUnsafe(statement);
  }
  return database;
}

const SUPABASE = [
  "GRANT USAGE ON SCHEMA public TO anon, authenticated",
  "GRANT ALL ON ALL TABLES IN SCHEMA public TO anon, authenticated",
];

describe("doctor on PostgreSQL", () => {
  it("fails where visitors can write the tables, and is content after what it advises", async () => {
    await using database = await open(...SUPABASE);
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error grants", "error grants"]);
    const { message, advice } = findingOf(findings, "grants");
    expect(message).toBe('table "RateLimit" can be written by anon, authenticated');
    expect(findings.find(({ message: each }) => each.includes("RateLimitOverride"))).toBeDefined();
    for (const { check, advice: each } of findings) {
      if (check !== "grants") continue;
      const [revoke] = /REVOKE [^;]+/.exec(each!)!;
      await database.prisma.$executeRawUnsafe(revoke);
    }
    expect(advice).toContain("docs/databases.md");
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
  });

  it("is content with row-level security without a policy, under which visitors see no row", async () => {
    const tables = ['"RateLimit"', '"RateLimitOverride"'];
    await using database = await open(
      ...SUPABASE,
      ...tables.map((table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`),
    );
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
    // As a visitor would.
    const visitor = connectPostgres(database.url, 1);
    await visitor.$executeRawUnsafe("SET ROLE anon");
    await expect(
      visitor.$executeRawUnsafe(`INSERT INTO "RateLimit" VALUES ('a', 'a', 0, 1, 1)`),
    ).rejects.toThrow(/row-level security/);
    await visitor.$disconnect();
    await database.prisma.$executeRawUnsafe(
      'CREATE POLICY open ON "RateLimit" FOR ALL TO anon USING (true)',
    );
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error grants"]);
    expect(findingOf(findings, "grants").message).toContain("written by anon");
  });

  it("is content after the statements of docs/databases.md", async () => {
    const page = await readFile(join(ROOT, "docs/databases.md"), "utf8");
    const [, sql] = /## Supabase and PostgREST[^]*?```sql\n([^]*?)```/.exec(page)!;
    await using database = await open(...SUPABASE, ...sql!.trim().split(/(?<=;)\n/));
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
  });

  it("is content with tables in a schema that visitors cannot use", async () => {
    await using database = await open(
      ...SUPABASE,
      "CREATE SCHEMA limits",
      'ALTER TABLE "RateLimit" SET SCHEMA limits',
      'ALTER TABLE "RateLimitOverride" SET SCHEMA limits',
    );
    expect(faultsOf(await runDoctor(database.url, { schema: "limits" }))).toEqual([]);
  });

  it("names PUBLIC, and warns where visitors can only read keys", async () => {
    await using database = await open('GRANT SELECT ON "RateLimit" TO PUBLIC');
    const reading = await runDoctor(database.url);
    expect(faultsOf(reading)).toEqual(["warning grants"]);
    expect(findingOf(reading, "grants").message).toBe(
      'the keys in table "RateLimit" can be read by anon, authenticated, public',
    );
    await database.prisma.$executeRawUnsafe('GRANT DELETE ON "RateLimit" TO PUBLIC');
    expect(faultsOf(await runDoctor(database.url))).toEqual(["error grants"]);
  });
});
