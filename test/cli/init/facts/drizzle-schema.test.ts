/** The tables that `init` writes into a Drizzle schema, as Drizzle reads them. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Table } from "drizzle-orm";
import { MySqlDialect, QueryBuilder as MysqlBuilder } from "drizzle-orm/mysql-core";
import { PgDialect, QueryBuilder as PgBuilder } from "drizzle-orm/pg-core";
import { QueryBuilder as SqliteBuilder, SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { LIMITS, OVERRIDES } from "../../../../server/store/sql/table/catalog.js";
import { initIn } from "../../../support/run-init.js";

const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/** What Drizzle does with names when it is given `casing: "snake_case"`. */
const inSnakeCase = { casing: "snake_case" } as const;
interface Builder {
  select(): { from(table: Table): { toSQL(): { sql: string } } };
}
const cores: [string, Builder][] = [
  ["pg", new PgBuilder(new PgDialect(inSnakeCase)) as unknown as Builder],
  ["mysql", new MysqlBuilder(new MySqlDialect(inSnakeCase)) as unknown as Builder],
  ["sqlite", new SqliteBuilder(new SQLiteSyncDialect(inSnakeCase)) as unknown as Builder],
];

describe.each(cores)("the tables of init in a Drizzle schema of %s", (core, builder) => {
  it("have the columns that a store reads, under `casing: snake_case`, too", async () => {
    const create = `${core}Table`;
    await using app = await initIn({
      "package.json": JSON.stringify({
        type: "module",
        dependencies: { "@trpc/server": "1", "drizzle-orm": "1" },
      }),
      "drizzle.config.ts": `export default { schema: "./schema.ts", casing: "snake_case" };\n`,
      "schema.ts": `import { ${create} } from "drizzle-orm/${core}-core";\n`,
      "db.ts": `export const db = drizzle(url, { casing: "snake_case" });\n`,
    });
    await symlink(MODULES, join(app.root, "node_modules"));
    const tables = (await import(/* @vite-ignore */ join(app.root, "schema.ts"))) as {
      rateLimits: Table;
      rateLimitsOverride: Table;
    };
    const columnsOf = (table: Table) =>
      [
        ...builder
          .select()
          .from(table)
          .toSQL()
          .sql.split(" from ")[0]!
          .matchAll(/["`](\w+)["`]/g),
      ].map(([, name]) => name!);
    expect(columnsOf(tables.rateLimits)).toEqual(LIMITS.columns);
    expect(columnsOf(tables.rateLimitsOverride)).toEqual(OVERRIDES.columns);
  });
});
