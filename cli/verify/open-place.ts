/** Opens stores on the tables or keys of one run of `verify`, through the application's own driver. */
import { mysqlStore, pgStore, type RateLimitStore, sqliteStore } from "../../server/index.js";
import { redisStore } from "../../server/redis/index.js";
import type { TableName } from "../../server/store/sql/sql.js";
import { connect, type Database, NoDriverError } from "../doctor/connect.js";
import { connectRedis } from "./connect-redis.js";
import type { Target } from "./find-target.js";
import { type OwnRows, ownKeys, ownTables } from "./own-rows.js";

/** Where the rows are. Each process opens the place for itself. */
export interface Place {
  /** The folders with installed packages. */
  installed: readonly string[];
  target: Target;
  /** The table of the limits, or the start of the keys. */
  name: string;
  /** Whether PostgreSQL keeps prepared statements between the statements of a connection. */
  prepare: boolean;
}

export interface OpenPlace {
  /** The package that connects. */
  driver: string;
  rows: OwnRows;
  /** `undefined` for Redis. */
  database?: Database;
  /** Sends a command to Redis. */
  send?: (args: readonly string[]) => Promise<unknown>;
  /**
   * A store on these rows, with its own memory.
   *
   * @param part on Redis, the store sees only the rows of stores with the same part. @default ""
   */
  openStore(part?: string): RateLimitStore;
  /** Does not wait for statements that run. */
  close(): Promise<void>;
}

/** As many as a store has open for transactions at a time, and few for a server that allows few. */
const CONNECTIONS = 4;

/** @throws NoDriverError when the application has no driver that a store can use. */
export async function openPlace(place: Place): Promise<OpenPlace> {
  const { installed, target, name } = place;
  if (target.kind === "redis") {
    const { driver, client, send, close } = await connectRedis(installed, target.url);
    return {
      driver,
      rows: ownKeys(send, name),
      send,
      openStore: (part = "") => withoutTransactions(redisStore(client, { prefix: name + part })),
      close: async () => close(),
    };
  }
  const { url } = target;
  const database = await connect(installed, url, CONNECTIONS);
  const { driver, client, connection } = database;
  if (client === undefined) {
    await database.close().catch(() => {});
    throw new NoDriverError([url.dialect === "mysql" ? "mysql2" : "pg"]);
  }
  return {
    driver: driver.replace("/promise", ""),
    rows: ownTables(url.dialect, connection, tableOf(place)),
    database,
    openStore: () => sqlStoreOf(database, place),
    async close() {
      await Promise.race([
        database.close().catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 1000).unref()),
      ]);
    },
  };
}

export function tableOf({ target, name }: Place): TableName {
  const schema = target.kind === "sql" && target.url.dialect !== "sqlite";
  return { name, schema: (schema && target.url.params.get("schema")) || undefined };
}

function sqlStoreOf({ client, reopen }: Database, place: Place): RateLimitStore {
  const { target, prepare } = place;
  const { name: table, schema } = tableOf(place);
  const { dialect } = (target as Extract<Target, { kind: "sql" }>).url;
  const options = { table, schema };
  if (dialect === "postgresql") {
    return pgStore(client as never, { ...options, prepare });
  }
  if (dialect === "mysql") return mysqlStore(client as never, options);
  return sqliteStore(client as never, { ...options, ...(reopen && { open: reopen }) });
}

/** Redis has none, and deletes full rows itself. The contract skips the tests of what is missing. */
function withoutTransactions(store: RateLimitStore): RateLimitStore {
  return { ...store, transaction: undefined, using: undefined, prune: undefined } as never;
}
