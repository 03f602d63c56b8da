/**
 * The SQL that denies visitors access to the tables, on a server that lacks some of the visitors' roles.
 */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { expect, it } from "vitest";
import { bothTables, tableSql } from "../../cli/table-sql.js";
import { closeTablesSql, revokeSql } from "../../cli/visitors-sql.js";
import { createPostgres } from "../support/database.js";

it("runs where none, one or both of the roles are there", async () => {
  await using database = await createPostgres();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const id = randomUUID().slice(0, 8);
  const roles = [`one_${id}`, `two_${id}`];
  const tables = bothTables({ name: "RateLimit" });
  const close = () => client.query(closeTablesSql(tables, roles));
  const having = async () => {
    const { rows } = await client.query<{ role: string }>(
      `SELECT DISTINCT grantee AS role FROM information_schema.role_table_grants
        WHERE grantee = ANY ($1::text[]) ORDER BY 1`,
      [roles],
    );
    return rows.map(({ role }) => role);
  };
  try {
    await close();
    for (const role of roles) {
      await client.query(`CREATE ROLE ${role}; GRANT ALL ON ${tables.join(", ")} TO ${role}`);
      expect(await having()).toEqual([role]);
      await close();
      expect(await having()).toEqual([]);
    }
  } finally {
    await client.query(`DROP ROLE IF EXISTS ${roles.join(", ")}`);
    await client.end();
  }
});

it("names the roles, both tables and their schema", () => {
  expect(revokeSql(['"RateLimit"', '"RateLimitOverride"'], ["anon"])).toContain(
    `  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'anon') THEN
    REVOKE ALL ON "RateLimit", "RateLimitOverride" FROM anon;
  END IF;`,
  );
  const sql = tableSql("postgresql", {
    table: { name: "limits", schema: "app" },
    closedTo: ["anon", "authenticated"],
  });
  expect(sql).toContain('CREATE TABLE "app"."limits" (');
  expect(sql).toContain('CONSTRAINT "limits_override_pkey" PRIMARY KEY ("name", "key")');
  expect(sql).toContain('REVOKE ALL ON "app"."limits", "app"."limits_override" FROM anon;');
  expect(sql).toContain('ALTER TABLE "app"."limits_override" ENABLE ROW LEVEL SECURITY;');
  expect(sql).not.toContain("RateLimit");
});

it("leaves other databases, and those without visitors, as they were", () => {
  expect(tableSql("mysql", { closedTo: ["anon"] })).toBe(tableSql("mysql"));
  expect(tableSql("postgresql")).not.toMatch(/REVOKE|SECURITY/);
});
