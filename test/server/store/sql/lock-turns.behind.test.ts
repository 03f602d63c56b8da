/**
 * A turn that comes behind a batch of another process. The batch waits for the turn's own lock, and the
 * turn waits for the batch. Only the two processes know of that circle, and not the database.
 */
import { expect, it, vi } from "vitest";
import { pgDriver } from "../../../../server/store/drivers/pg/pg-driver.js";
import { inside } from "../../../../server/store/sql/connection.js";
import type { SqlConnection } from "../../../../server/store/sql/driver.js";
import { DatabaseClock } from "../../../../server/store/sql/table/database-clock.js";
import { lockInTurn } from "../../../../server/store/sql/lock-turns.js";
import { postgresql } from "../../../../server/store/sql/postgresql/postgresql.js";
import { rowId } from "../../../../server/store/store.js";
import { createPostgres } from "../../../support/database.js";
import { connectPool } from "../../../support/connect-pool.js";

it("lets the batch go first, before the batch gives up", async () => {
  await using database = await createPostgres();
  const pool = connectPool(database.url);
  const driver = pgDriver(pool);
  const statements = postgresql.statements(
    { name: "RateLimit" },
    new DatabaseClock(),
    "PostgreSQL 15.5",
  );
  const row = rowId("posts", "ann", 0);
  await pool.query(`INSERT INTO "RateLimit" VALUES ('posts', 'ann', 0, 1, 1)`);
  const untilWaiting = (sessions: number) =>
    vi.waitFor(
      async () => {
        const { rowCount } = await pool.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        expect(rowCount).toBe(sessions);
      },
      { timeout: 10_000, interval: 5 },
    );
  const order: string[] = [];

  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let sayLocked = () => {};
  const locked = new Promise<void>((resolve) => (sayLocked = resolve));
  const holder = driver.transaction(
    async (tx) => {
      await statements.read(inside(driver.within(tx), { lock: "passing", patience: "none" }), [
        row,
      ]);
      sayLocked();
      await held;
    },
    { isolationLevel: "ReadCommitted" },
  );
  await locked;
  let batch: Promise<unknown> | undefined;
  const turn = driver.transaction(
    async (tx) => {
      const first = driver.within(tx);
      // The batch comes between the lock of the turn and its transaction.
      const late: SqlConnection = {
        ...first,
        async query(text, params) {
          batch = driver.transaction(
            async (other) => {
              await statements.read(
                inside(driver.within(other), { lock: "exclusive", patience: "brief" }),
                [row],
              );
              // Still inside, so that nobody else can have the row yet.
              order.push("the batch");
            },
            { isolationLevel: "ReadCommitted" },
          );
          batch.catch(() => order.push("the batch gave up"));
          await untilWaiting(1);
          untilWaiting(2).then(letGo, letGo);
          return first.query(text, params);
        },
      };
      await lockInTurn({ dialect: postgresql, statements }, late, driver, [row]);
      order.push("the turn");
    },
    { isolationLevel: "ReadCommitted" },
  );
  await Promise.all([holder, turn]);
  await batch;
  expect(order).toEqual(["the batch", "the turn"]);
  await pool.end();
});
