/** The plain take through drivers that write numbers into texts, or guess the types of parameters. */
import { drizzle as drizzleMysql } from "drizzle-orm/mysql2";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Row } from "../../core/rows/row.js";
import { type AnyDrizzle, drizzleDriver } from "../../server/drizzle/drizzle-driver.js";
import { drizzleParts } from "../../server/drizzle/drizzle-parts.js";
import { kyselyDriver } from "../../server/kysely/kysely-driver.js";
import type { Decision } from "../../server/store/store.js";
import type { Dialect } from "../../server/store/sql/dialect.js";
import type { SqlConnection } from "../../server/store/sql/driver.js";
import { mysql } from "../../server/store/sql/mysql/mysql.js";
import { postgresql } from "../../server/store/sql/postgresql/postgresql.js";
import { findMismatches, statementsOf } from "../server/store/sql/differential.js";
import { createMysql, createPostgres, mysqlUrl, type TestDatabase } from "../support/database.js";
import { openStore, type StoreKind } from "../support/open-store.js";
import { connectKysely, connectMysql2, connectPostgresJs } from "../support/open-orm.js";

const cases = Number(process.env["DIFFERENTIAL_CASES"] ?? 4000);

async function expectExact(connection: SqlConnection, dialect: Dialect, inserts: boolean) {
  const statements = await statementsOf(dialect, connection);
  const quoted = dialect === mysql ? "RateLimit" : '"RateLimit"';
  const empty = () => connection.execute(`DELETE FROM ${quoted}`, []);
  expect(await findMismatches({ statements, connection, inserts, empty }, { cases })).toEqual([]);
}

/** Each number is written, read, and compared inside a statement. */
async function expectExactGuards(kind: StoreKind, database: TestDatabase): Promise<void> {
  const { store, close } = openStore(kind, database.url);
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const states = Array.from({ length: 300 }, () => ({
    // With 17 characters, mysql2 reads about one in a hundred of them with a wrong last bit.
    used: Number(String(random() * 1e5).slice(0, 17)),
    ts: 1.8e12 + Math.floor(random() * 1e12) + random(),
  }));
  const ids = states.map((_, i) => ({ name: "exact", key: `${i}`, shard: 0 }));
  const to = (next: (i: number) => Row) =>
    ids.map((id, i): Decision<unknown> => ({
      rows: [id],
      decide: ([state]) => ({ result: state, writes: [next(i)] }),
    }));
  await store.apply(to((i) => states[i]!));
  // One by one, because a single row has a statement of its own.
  const zero = { used: 0, ts: 0 };
  for (const [i, decision] of to(() => zero).entries()) {
    expect(await store.apply([decision])).toEqual([states[i]]);
  }
  expect(await store.apply(to(() => zero))).toEqual(ids.map(() => zero));
  await close();
}

describe("takes tokens exactly as core does", { timeout: 20_000 + cases }, () => {
  it("through Drizzle on postgres-js", async () => {
    await using database = await createPostgres();
    const client = connectPostgresJs(database.url, 1);
    const db = drizzlePostgresJs(client) as unknown as AnyDrizzle;
    await expectExact(drizzleDriver(db, drizzleParts(db)), postgresql, true);
    await client.end();
  });

  it("through Kysely on pg", async () => {
    await using database = await createPostgres();
    const db = connectKysely("postgresql", database.url, 1);
    await expectExact(kyselyDriver(db, "postgresql"), postgresql, true);
    await db.destroy();
  });

  if (mysqlUrl === undefined) {
    it("on mysql2", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
    return;
  }

  it.each(["drizzle mysql2", "kysely mysql2"] as const)(
    "and reads and compares numbers exactly (%s)",
    async (kind) => {
      await using database = await createMysql();
      await expectExactGuards(kind, database);
    },
  );

  it("through Drizzle on mysql2", async () => {
    await using database = await createMysql();
    const pool = connectMysql2(database.url, 1);
    const db = drizzleMysql({ client: pool }) as unknown as AnyDrizzle;
    await expectExact(drizzleDriver(db, drizzleParts(db)), mysql, false);
    await pool.promise().end();
  });

  it("through Kysely on mysql2", async () => {
    await using database = await createMysql();
    const db = connectKysely("mysql", database.url, 1);
    onTestFinished(() => db.destroy());
    await expectExact(kyselyDriver(db, "mysql"), mysql, false);
  });
});
