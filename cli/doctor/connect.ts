/** Connects through a driver that the application has installed. */
import { existsSync } from "node:fs";
import { libsqlDriver } from "../../server/store/drivers/sqlite/sqlite-libsql.js";
import type {
  LibsqlClientLike,
  SqliteDatabaseLike,
} from "../../server/store/drivers/sqlite/sqlite-clients.js";
import { sqliteConnection } from "../../server/store/drivers/sqlite/sqlite-connection.js";
import { mysqlDriver } from "../../server/store/drivers/mysql/mysql-driver.js";
import type { MysqlPoolLike } from "../../server/store/drivers/mysql/mysql-client.js";
import { pgDriver } from "../../server/store/drivers/pg/pg-driver.js";
import type { PgPoolLike } from "../../server/store/drivers/pg/pg-client.js";
import type { SqlConnection, SqlRow } from "../../server/store/sql/driver.js";
import { CliError } from "../cli-error.js";
import type { DatabaseUrl } from "./database-url.js";
import { connectPrisma } from "./connect-prisma.js";
import { loadPackage } from "./load-package.js";
import type { OpenSession } from "./check-pooler.js";

export interface Database {
  /** The package that connects. */
  driver: string;
  connection: SqlConnection;
  /** The pool or the connection, as a store takes it. Without it, `connection` alone runs statements. */
  client?: unknown;
  /** Opens one more connection. Only for a synchronous driver of SQLite. */
  reopen?: () => SqliteDatabaseLike;
  /** Opens a connection outside of the pool, for checks of facts that a pool hides. Only with `pg`. */
  openSession?: OpenSession;
  close(): Promise<unknown>;
}

/** How long to wait for a connection, and for a statement, ms. */
const PATIENCE = 5000;
/** How long SQLite waits for other connections, ms. A synchronous driver blocks the process meanwhile. */
const BUSY = 100;

type Connect = (module: never, url: DatabaseUrl, most: number) => Omit<Database, "driver">;

/** The drivers by dialect, in the order in which they are tried. */
const DRIVERS: Record<DatabaseUrl["dialect"], [name: string, connect: Connect][]> = {
  postgresql: [
    ["pg", connectPg],
    ["postgres", connectPostgresJs],
  ],
  mysql: [
    ["mysql2/promise", connectMysql2],
    ["mariadb", connectMariadb],
  ],
  sqlite: [
    ["@libsql/client", connectLibsql],
    ["better-sqlite3", connectBetterSqlite],
    ["node:sqlite", connectNodeSqlite],
  ],
};

/**
 * @param folders of packages that may have a driver installed.
 * @param most the most connections of a pool.
 * @throws NoDriverError when the application has no driver for the database.
 * @throws NoFileError when there is no such file.
 */
export async function connect(
  folders: readonly string[],
  url: DatabaseUrl,
  most = 1,
): Promise<Database> {
  if (url.file !== undefined && !existsSync(url.file)) {
    throw new NoFileError(url.url);
  }
  const drivers = DRIVERS[url.dialect];
  for (const [driver, open] of drivers) {
    if (url.file === undefined && url.dialect === "sqlite" && driver !== "@libsql/client") continue;
    for (const folder of folders) {
      const module = await loadPackage(folder, driver);
      if (module !== undefined) return { driver, ...open(module as never, url, most) };
    }
  }
  const prisma = await connectPrisma(folders, url);
  if (prisma !== undefined) return prisma;
  throw new NoDriverError(drivers.map(([name]) => name.split("/promise")[0]!));
}

/**
 * The file of SQLite is not there, as before the first migration. Tools resolve a relative path from
 * different folders, so the message shows the path as it is written.
 */
export class NoFileError extends CliError {
  readonly advice =
    "make it by a migration of the application, such as its db:push, or check DATABASE_URL";

  constructor(url: string) {
    super(`there is no file for ${url} yet`);
  }
}

/** No package that the application has installed can connect to its database. */
export class NoDriverError extends CliError {
  readonly advice: string;
  /** The part of the advice that is right for every command. */
  readonly install: string;

  constructor(drivers: readonly string[]) {
    const names = drivers.join(", ");
    super(
      `the command asks the database through a driver, and the application has none of ${names}`,
    );
    this.install =
      `run npm install --no-save ${drivers[0]}, which leaves package.json and the lockfile as they ` +
      "are";
    this.advice = `${this.install}. With Prisma 6 and its own engine, npx prisma generate is enough`;
  }
}

function connectPg(
  pg: {
    Pool: new (
      options: object,
    ) => PgPoolLike & { on(name: string, f: () => void): void; end(): Promise<void> };
    Client: new (
      options: object,
    ) => ReturnType<OpenSession> extends Promise<infer T>
      ? T & { connect(): Promise<unknown>; on(name: string, f: () => void): void }
      : never;
  },
  { url }: DatabaseUrl,
  most: number,
): Omit<Database, "driver"> {
  const options = {
    connectionString: url,
    connectionTimeoutMillis: PATIENCE,
    query_timeout: PATIENCE,
  };
  const pool = new pg.Pool({ ...options, max: most });
  pool.on("error", () => {});
  return {
    client: pool,
    // Prepared statements are a check of their own.
    connection: pgDriver(pool, { prepare: false }),
    async openSession() {
      const client = new pg.Client(options);
      client.on("error", () => {});
      await client.connect();
      return client;
    },
    close: () => pool.end(),
  };
}

interface PostgresJs {
  unsafe(text: string, params: unknown[]): Promise<SqlRow[] & { count: number }>;
  end(): Promise<void>;
}

function connectPostgresJs(
  module: { default: (url: string, options: object) => PostgresJs },
  { url }: DatabaseUrl,
): Omit<Database, "driver"> {
  // Keep only `ssl` options: other options, such as Prisma's `schema`, would be sent to the server.
  const bare = new URL(url);
  const kept = [...bare.searchParams].filter(([name]) => name.startsWith("ssl"));
  bare.search = new URLSearchParams(kept).toString();
  const options = { max: 1, prepare: false, connect_timeout: PATIENCE / 1000, onnotice() {} };
  const sql = module.default(bare.href, options);
  return {
    connection: {
      query: async (text, params) => [...(await sql.unsafe(text, [...params]))],
      execute: async (text, params) => (await sql.unsafe(text, [...params])).count,
    },
    close: () => sql.end(),
  };
}

interface MysqlModule {
  createPool(options: object): MysqlPoolLike & {
    end(): Promise<void>;
    on?(name: "error", listener: () => void): void;
  };
}

function connectMysql2(
  mysql2: MysqlModule,
  url: DatabaseUrl,
  most: number,
): Omit<Database, "driver"> {
  const options = { ...addressOf(url), connectTimeout: PATIENCE };
  return connectMysql(mysql2, { ...options, connectionLimit: most });
}

function connectMariadb(
  mariadb: MysqlModule,
  url: DatabaseUrl,
  most: number,
): Omit<Database, "driver"> {
  return connectMysql(mariadb, {
    ...addressOf(url),
    connectionLimit: most,
    connectTimeout: PATIENCE,
    acquireTimeout: PATIENCE,
    initializationTimeout: PATIENCE,
  });
}

function connectMysql(module: MysqlModule, options: object): Omit<Database, "driver"> {
  const pool = module.createPool(options);
  pool.on?.("error", () => {});
  return { client: pool, connection: mysqlDriver(pool), close: () => pool.end() };
}

function addressOf({ url, params }: DatabaseUrl): object {
  const { hostname, port, username, password, pathname } = new URL(url);
  const usesTls = [...params.keys()].some((name) => name.startsWith("ssl"));
  return {
    host: hostname,
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(usesTls && { ssl: {} }),
  };
}

function connectLibsql(
  module: { createClient(options: object): LibsqlClientLike & { close(): void } },
  { url, file }: DatabaseUrl,
): Omit<Database, "driver"> {
  const authToken = process.env["DATABASE_AUTH_TOKEN"] ?? process.env["TURSO_AUTH_TOKEN"];
  const address = file === undefined ? url : `file:${file}`;
  const client = module.createClient({ url: address, authToken, timeout: BUSY });
  return { client, connection: libsqlDriver(client), close: async () => client.close() };
}

function connectBetterSqlite(
  module: { default: new (file: string, options: object) => SqliteDatabaseLike },
  { file }: DatabaseUrl,
): Omit<Database, "driver"> {
  return synchronous(() => new module.default(file!, { timeout: BUSY }));
}

function connectNodeSqlite(
  module: { DatabaseSync: new (file: string, options: object) => SqliteDatabaseLike },
  { file }: DatabaseUrl,
): Omit<Database, "driver"> {
  return synchronous(() => new module.DatabaseSync(file!, { timeout: BUSY }));
}

function synchronous(reopen: () => SqliteDatabaseLike): Omit<Database, "driver"> {
  const db = reopen();
  const { query, execute } = sqliteConnection(db);
  const connection: SqlConnection = {
    query: async (text, params) => query(text, params),
    execute: async (text, params) => execute(text, params),
  };
  return { client: db, reopen, connection, close: async () => db.close() };
}
