/** The databases of a simulation: the model of each, and a pool and a store on it. */
import type { RateLimitStore } from "../../server/index.js";
import type { PgClientLike } from "../../server/store/drivers/pg/pg-client.js";
import type { ModelServer } from "./model/server.js";
import { MysqlServer } from "./model/mysql.js";
import { PostgresqlServer } from "./model/postgresql.js";
import { SimulatedMysqlPool } from "./mysql-pool.js";
import type { Network } from "./network.js";
import { SimulatedPool } from "./pg-pool.js";
import type { Process } from "./process.js";
import type { Scenario } from "./scenario.js";
import type { Shipped } from "./shipped.js";
import type { Timeline } from "./timeline.js";

export const DATABASES = ["postgresql", "mariadb", "mysql"] as const;

export type DatabaseKind = (typeof DATABASES)[number];

/** A connection of the pool that is lent to the application. */
export interface Borrowed {
  /** The client or transaction that `using` takes. */
  tx: unknown;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** @param error closes the connection, which is then not given back. */
  release(error?: Error): void;
}

/** A process's access to its database. */
export interface Backend {
  /** The connections of the process, and what is left open. */
  pool: Pick<
    SimulatedPool,
    "heldListeners" | "lent" | "max" | "openCount" | "unheard" | "waitingCount"
  >;
  store: RateLimitStore;
  borrow(): Promise<Borrowed>;
}

/** @param clock epoch ms. */
export function createServer(
  kind: DatabaseKind,
  timeline: Timeline,
  clock: () => number,
): ModelServer {
  return kind === "postgresql"
    ? new PostgresqlServer(timeline, clock)
    : new MysqlServer(timeline, clock, kind);
}

export function createBackend(
  { database, isolation, pool: max }: Scenario,
  shipped: Shipped,
  network: Network,
  process: Process,
): Backend {
  const options = isolation && { isolation };
  if (database === "postgresql") {
    const pool = new SimulatedPool(network, process, max);
    const store = shipped.pgStore(pool, options) as RateLimitStore;
    return { pool, store, borrow: () => borrowPg(pool) };
  }
  const pool = new SimulatedMysqlPool(network, process, max);
  const store = shipped.mysqlStore(pool, options) as RateLimitStore;
  return { pool, store, borrow: () => borrowMysql(pool) };
}

async function borrowPg(pool: SimulatedPool): Promise<Borrowed> {
  const client = await new Promise<PgClientLike>((resolve, reject) => {
    pool.connect((error, found) => (found ? resolve(found) : reject(error!)));
  });
  const run = async (text: string) => void (await client.query({ text }));
  return {
    tx: client,
    begin: () => run("BEGIN ISOLATION LEVEL READ COMMITTED"),
    commit: () => run("COMMIT"),
    rollback: () => run("ROLLBACK"),
    release: (error) => client.release(error),
  };
}

async function borrowMysql(pool: SimulatedMysqlPool): Promise<Borrowed> {
  const connection = await pool.getConnection();
  const run = async (sql: string) => void (await connection.query({ sql }));
  return {
    tx: connection,
    begin: () => run("START TRANSACTION"),
    commit: () => run("COMMIT"),
    rollback: () => run("ROLLBACK"),
    release: (error) => (error ? connection.destroy() : connection.release()),
  };
}
