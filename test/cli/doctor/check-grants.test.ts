/** `doctor` on databases that give visitors rights on the tables, as Supabase does. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkGrants } from "../../../cli/doctor/check-grants.js";
import { connectPostgres } from "../../support/clients.js";
import { createPostgres } from "../../support/database.js";
import { faultsOf, findingOf, ROOT, runDoctor as runIn } from "../../support/run-doctor.js";
import { SUPABASE_ROLES_SQL } from "../../support/supabase.js";

/** Beside few sources: reading all those of the repository takes most of the time of a run. */
const runDoctor = (url: string, options: Parameters<typeof runIn>[1] = {}) =>
  runIn(url, { root: join(ROOT, "core"), ...options });

async function open(...statements: string[]) {
  const database = await createPostgres();
  for (const statement of [SUPABASE_ROLES_SQL, ...statements]) {
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
      const [sql] = /REVOKE .*;/.exec(each!)!;
      for (const statement of sql.split("; ")) await database.prisma.$executeRawUnsafe(statement);
    }
    expect(advice).toBe(
      'run REVOKE ALL ON "RateLimit" FROM anon, authenticated; ' +
        'ALTER TABLE "RateLimit" ENABLE ROW LEVEL SECURITY; ' +
        "docs/guides/supabase.md of trpc-rate-limit says why",
    );
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

  it("is content after the statements of docs/guides/supabase.md", async () => {
    const page = await readFile(join(ROOT, "docs/guides/supabase.md"), "utf8");
    const [, section] = page.split("## Rights on the tables");
    const blocks = [...section!.matchAll(/```sql\n([^]*?)```/g)];
    const statements = blocks.flatMap(([, sql]) => sql!.trim().split(/(?<=;)\n/));
    // Two for each table.
    expect(statements).toHaveLength(4);
    await using database = await open(...SUPABASE, ...statements);
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

  it("fails where PUBLIC can read keys, or has any other right on rows", async () => {
    await using database = await open('GRANT SELECT ON "RateLimit" TO PUBLIC');
    const reading = await runDoctor(database.url);
    expect(faultsOf(reading)).toEqual(["error grants"]);
    const { message, advice } = findingOf(reading, "grants");
    expect(message).toMatch(/^the keys in table "RateLimit" can be read by .*\bpublic$/);
    for (const right of ["INSERT", "UPDATE", "DELETE", "UPDATE (used)"]) {
      await database.prisma.$executeRawUnsafe(`GRANT ${right} ON "RateLimit" TO PUBLIC`);
      const writing = await runDoctor(database.url);
      expect(findingOf(writing, "grants").message).toContain('"RateLimit" can be written by');
      await database.prisma.$executeRawUnsafe(/REVOKE [^;]+/.exec(advice!)![0]);
      expect(faultsOf(await runDoctor(database.url))).toEqual([]);
    }
  });

  it.each([
    ["a policy that is false", "USING (false)", []],
    ["a policy that only restricts", "AS RESTRICTIVE USING (true)", []],
    ["a policy for another role", "TO CURRENT_USER USING (true)", []],
    ["a policy to read", "FOR SELECT USING (true)", ["can be read by"]],
    ["a policy with a condition", "FOR DELETE USING (key <> '')", ["can be written by"]],
    ["a policy to insert", "FOR INSERT WITH CHECK (true)", ["can be written by"]],
  ])("under row-level security minds what %s permits", async (_, policy, said) => {
    await using database = await open(
      ...SUPABASE,
      'REVOKE ALL ON "RateLimitOverride" FROM anon, authenticated',
      'ALTER TABLE "RateLimit" ENABLE ROW LEVEL SECURITY',
      `CREATE POLICY own ON "RateLimit" ${policy}`,
    );
    const findings = await runDoctor(database.url);
    const faults = findings.filter(({ check, level }) => check === "grants" && level !== "ok");
    expect(faults.map(({ message }) => /can be \w+ by/.exec(message)?.[0])).toEqual(said);
  });

  it("asks for the roles that it is given, those that inherit a right or a policy included", async () => {
    await using database = await open();
    const id = database.url.slice(-8);
    const [visitor, group] = [`visitor_${id}`, `group_${id}`];
    const run = (sql: string) => database.prisma.$executeRawUnsafe(sql);
    const check = async () => {
      const query = (text: string, params: readonly unknown[]) =>
        database.prisma.$queryRawUnsafe<Record<string, unknown>[]>(text, ...params);
      const connection = {
        query: async (...args: Parameters<typeof query>) => await query(...args),
      };
      const limits = { name: "RateLimit" };
      const overrides = { name: "RateLimitOverride" };
      const findings = await checkGrants(
        "postgresql",
        { ...connection, execute: () => Promise.reject(new Error("doctor changes nothing")) },
        limits,
        overrides,
        [visitor],
      );
      return findings.map(({ level, message }) => `${level} ${message}`);
    };
    const OK = ["ok no role of visitors can read or write the tables"];
    await run(`CREATE ROLE ${visitor}`);
    await run(`CREATE ROLE ${group}`);
    try {
      await run(`GRANT ${group} TO ${visitor}`);
      expect(await check()).toEqual(OK);
      await run(`GRANT DELETE ON "RateLimit" TO ${group}`);
      expect(await check()).toEqual([`error table "RateLimit" can be written by ${visitor}`]);
      await run('ALTER TABLE "RateLimit" ENABLE ROW LEVEL SECURITY');
      expect(await check()).toEqual(OK);
      await run(`CREATE POLICY own ON "RateLimit" TO ${group} USING (true)`);
      expect(await check()).toEqual([`error table "RateLimit" can be written by ${visitor}`]);
    } finally {
      await run(`DROP OWNED BY ${visitor}, ${group}`);
      await run(`DROP ROLE ${visitor}, ${group}`);
    }
  });
});
