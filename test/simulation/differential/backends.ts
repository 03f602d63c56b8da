/** The databases that the models are compared with. */
import mysql2 from "mysql2/promise";
import pg from "pg";
import { mysqlDriver } from "../../../server/store/drivers/mysql/mysql-driver.js";
import { pgDriver } from "../../../server/store/drivers/pg/pg-driver.js";
import { DatabaseClock } from "../../../server/store/sql/table/database-clock.js";
import type { Dialect } from "../../../server/store/sql/dialect.js";
import { mysql } from "../../../server/store/sql/mysql/mysql.js";
import { postgresql } from "../../../server/store/sql/postgresql/postgresql.js";
import { MysqlServer } from "../model/mysql.js";
import { PostgresqlServer } from "../model/postgresql.js";
import type { ModelServer } from "../model/server.js";
import type { Timeline } from "../timeline.js";
import type { Edited, RealSession } from "./tandem.js";

export type LevelName = "READ COMMITTED" | "REPEATABLE READ" | "SERIALIZABLE";

export interface Backend {
  name: "postgresql" | "mariadb";
  /** The name of the table, quoted. */
  table: string;
  dialect: Dialect;
  version: string;
  /** The isolation levels that the package or its applications use. */
  levels: readonly LevelName[];
  begin(level: LevelName): string[];
  model(timeline: Timeline): ModelServer;
  connect(): Promise<RealSession>;
  /**
   * Sets the bounds of waits. The model and the database have different clocks, so a wait must end by
   * itself as soon as it can, or never.
   */
  edit(text: string, endsWaits: boolean): Edited;
  reasonOf(error: Error): string;
  /**
   * Resolves when nothing of earlier transactions is left.
   *
   * @param most ms to wait for that. An open snapshot delays it.
   */
  rest(session: RealSession, most: number): Promise<void>;
  close(): Promise<void>;
}

/** Lets every second result contain the clock, as results do now and then. The clock is not compared. */
export function everyOtherTime(): DatabaseClock {
  let calls = 0;
  const clock = new DatabaseClock();
  clock.due = () => (calls++ % 2 === 1 ? () => {} : undefined);
  return clock;
}

const REASONS: Record<string, string> = {
  "40001": "serialization failure",
  "40P01": "deadlock",
  "55P03": "lock not available",
  "25P02": "transaction aborted",
  "22003": "out of range",
  ER_LOCK_DEADLOCK: "deadlock",
  ER_LOCK_WAIT_TIMEOUT: "lock wait time-out",
  ER_DATA_OUT_OF_RANGE: "out of range",
};

function reasonOf(error: Error): string {
  const code = String((error as { code?: unknown }).code);
  return REASONS[code] ?? `${code} ${error.message}`;
}

export function postgresqlBackend(url: string): Backend {
  const clients: pg.Client[] = [];
  const driver = pgDriver(new pg.Pool({ connectionString: url }) as never);
  return {
    name: "postgresql",
    table: '"RateLimit"',
    dialect: postgresql,
    version: "PostgreSQL 15",
    levels: ["READ COMMITTED", "SERIALIZABLE"],
    begin: (level) => [`BEGIN ISOLATION LEVEL ${level}`],
    model: (timeline) => new PostgresqlServer(timeline, () => 0),
    async connect() {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      clients.push(client);
      await client.query("SET deadlock_timeout = '5ms'");
      return { ...driver.within(client as never), run: (text) => client.query(text) };
    },
    edit(text, endsWaits) {
      const within = (ms: number) =>
        text.replaceAll(/(?<='lock_timeout', ')\d+|(?<=SET LOCAL lock_timeout = )\d+/g, `${ms}`);
      if (!endsWaits) return { model: within(2_000_000), real: within(2_000_000) };
      // Both sides search for deadlocks before the bound: the model after 1 s, and the database after 5
      // ms.
      return { model: within(1200), real: within(60) };
    },
    reasonOf,
    rest: async () => {},
    close: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
}

export function mariadbBackend(url: string): Backend {
  const connections: mysql2.Connection[] = [];
  const driver = mysqlDriver({} as never);
  return {
    name: "mariadb",
    table: "`RateLimit`",
    dialect: mysql,
    version: "10.11 MariaDB",
    levels: ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"],
    begin: (level) => [`SET TRANSACTION ISOLATION LEVEL ${level}`, "START TRANSACTION"],
    model: (timeline) => new MysqlServer(timeline, () => 0, "mariadb"),
    async connect() {
      const connection = await mysql2.createConnection(url);
      connections.push(connection);
      return { ...driver.within(connection as never), run: (text) => connection.query(text) };
    },
    edit(text, endsWaits) {
      // One second is the shortest possible bound.
      const edited = endsWaits
        ? text
        : text.replace(/(innodb_lock_wait_timeout =) 1 /g, "$1 2000 ");
      return { model: edited, real: edited };
    },
    reasonOf,
    // A deleted record keeps its place in the index until the purge, for which the database takes up to a
    // second unless a session waits for it. Its clock ends the wait without an error.
    async rest(session, most) {
      await session.run(`SET max_statement_time = ${most / 1000}`);
      await session.run("SET GLOBAL innodb_max_purge_lag_wait = 0");
      await session.run("SET max_statement_time = 0");
    },
    close: async () => void (await Promise.all(connections.map((each) => each.end()))),
  };
}
