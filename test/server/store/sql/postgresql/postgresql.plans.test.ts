/**
 * How PostgreSQL plans the statements of the store. A prepared statement must be planned once, and not
 * again for each number of rows. The statement keeps its plan while the table grows, so even a plan that
 * was made for few rows must look rows up by the primary key.
 */
import { expect, it } from "vitest";
import { pgDriver } from "../../../../../server/store/drivers/pg/pg-driver.js";
import { DatabaseClock } from "../../../../../server/store/sql/table/database-clock.js";
import { inside } from "../../../../../server/store/sql/connection.js";
import { postgresql } from "../../../../../server/store/sql/postgresql/postgresql.js";
import { type RowId, rowId } from "../../../../../server/store/store.js";
import { connectPool } from "../../../../support/connect-pool.js";
import { createPostgres } from "../../../../support/database.js";

const ROWS = 4;
const was = { used: 5, ts: 1 };
const next = { used: 4, ts: 1 };

it("plans each statement once, and by the primary key, although the table was small then", async () => {
  await using database = await createPostgres();
  const pool = connectPool(database.url, 1);
  await pool.query(`INSERT INTO "RateLimit" SELECT 'posts', 'user ' || i, 0, 5, 1
    FROM generate_series(1, ${ROWS}) AS i`);
  await pool.query(`VACUUM ANALYZE "RateLimit"`);
  const driver = pgDriver(pool);
  const own = inside(driver, { lock: "none" });
  const statements = postgresql.statements(
    { name: "RateLimit" },
    new DatabaseClock(),
    "PostgreSQL 15.5",
  );
  const config = { kind: "token bucket", rate: 10, period: 1000 } as const;

  async function use(rows: readonly RowId[]): Promise<void> {
    await statements.read(own, rows);
    const writes = rows.map((row) => ({ row, was, next }));
    const back = rows.map((row) => ({ row, was: next, next: was }));
    const alone = writes.map((write, i) => ({ writes: [write], decisions: [i] }));
    expect((await statements.update(own, alone)).size).toBe(rows.length);
    expect((await statements.update(own, [{ writes: back, decisions: [0] }])).size).toBe(
      rows.length,
    );
    const gone = rows.map((row) => ({ row, was, next: null }));
    expect((await statements.remove(own, gone)).size).toBe(rows.length);
    const anew = rows.map((row) => ({ row, was: null, next: was }));
    expect((await statements.insert(own, anew)).size).toBe(rows.length);
    for (const differ of [0, 1]) {
      const lines = rows.map((row, i) => {
        const terms = { config, floor: i === 0 ? -differ : 0 };
        return { row, terms, total: 1, fresh: { used: 1, ts: 1 } };
      });
      const options = { now: 1, mayWait: false, isWanted: () => true };
      expect((await statements.take!(own, lines, options)).size).toBe(rows.length);
    }
    await pool.query(`UPDATE "RateLimit" SET "used" = 5`);
  }

  const row = (i: number) => rowId("posts", `user ${i}`, 0);
  for (let i = 0; i < 20; i++) {
    await use(Array.from({ length: 2 + (i % 3) }, (_, n) => row(n + 1)));
    // A single row is read, written and taken from by statements of its own: one for takes that owe
    // nothing, and one for others.
    await use([row(1)]);
  }

  const { rows: prepared } = await pool.query<Record<string, string>>(
    `SELECT "name", "statement", "generic_plans" > 0 AS "isKept", array_length("parameter_types", 1) AS "count"
     FROM pg_prepared_statements WHERE "name" LIKE 'rate_limit_%'
     AND "generic_plans" + "custom_plans" > 10`,
  );
  expect(prepared).toHaveLength(11);
  expect(prepared.filter(({ isKept }) => !isKept)).toEqual([]);
  for (const { name, statement, count } of prepared) {
    const nulls = Array.from({ length: Number(count) }, () => "NULL").join(", ");
    const { rows: plan } = await pool.query<Record<string, string>>(
      `EXPLAIN EXECUTE ${name}(${nulls})`,
    );
    const lines = plan.map((line) => line["QUERY PLAN"]!);
    const scans = lines.filter((line) => line.includes("Seq Scan"));
    expect({ statement, scans }).toEqual({ statement, scans: [] });
  }
  await pool.end();
});
