/** Creates a new database for a test, with the migrations of the package. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "pg";
// Bun replaces Vitest by its own test runner, which has no `inject`.
import * as vitest from "vitest";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import type { PrismaLike } from "../../server/index.js";
import {
  type Client,
  connectMysql,
  connectPostgres,
  connectSqlite,
  type MysqlClient,
  type PostgresClient,
  type Provider,
  type SqliteClient,
} from "./clients.js";
import type { StoreKind } from "./open-store.js";

const SCHEMAS = fileURLToPath(new URL("../../prisma/", import.meta.url));

export interface TestDatabase<TClient extends Client = Client> {
  url: string;
  prisma: TClient;
  /** Connects another client to the same database, as another process would. */
  connect(): TClient;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A database file with empty tables. The first test creates it. */
let sqliteFile: Promise<Buffer> | undefined;

/**
 * A copy of the file, so that `prisma` has not opened it yet. Prisma's driver closes a file only when
 * garbage is collected. Closing it removes the locks of other SQLite clients in the process, and the
 * `-wal` file below them, because each client brings its own SQLite, which does not know the other
 * clients.
 */
export async function createSqlite(): Promise<TestDatabase<SqliteClient>> {
  const file = await (sqliteFile ??= createSqliteFile());
  const folder = await makeFolder();
  const path = join(folder, "test.db");
  await writeFile(path, file);
  return open(`file:${path}`, connectSqlite, () => rm(folder, { recursive: true, force: true }));
}

async function createSqliteFile(): Promise<Buffer> {
  const folder = await makeFolder();
  const path = join(folder, "test.db");
  const prisma = connectSqlite(`file:${path}`);
  await prisma.$queryRaw`PRAGMA journal_mode = WAL`;
  await applyMigrations(prisma, `${SCHEMAS}migrations`);
  await prisma.$queryRaw`PRAGMA wal_checkpoint(TRUNCATE)`;
  const file = await readFile(path);
  await prisma.$disconnect();
  await rm(folder, { recursive: true, force: true });
  return file;
}

function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "limits-"));
}

/**
 * @param server the URL of the server. @default the server that all tests share
 * @param options of `CREATE DATABASE`.
 */
export async function createPostgres(
  server?: string,
  options?: string,
): Promise<TestDatabase<PostgresClient>> {
  const url = new URL(server ?? vitest.inject("postgresUrl"));
  const admin = oneConnection(url.href);
  // The run deletes what has this beginning at its end.
  const prefix = server === undefined ? vitest.inject("keptDatabases") : "limits";
  const name = `${prefix}_${randomUUID().replaceAll("-", "")}`;
  const isCopy = server === undefined && options === undefined;
  await admin.query(`CREATE DATABASE ${name} ${isCopy ? `TEMPLATE ${prefix}` : (options ?? "")}`);
  url.pathname = name;
  const database = open(url.href, connectPostgres, async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  });
  if (!isCopy) await migratePostgres(database.prisma);
  return database;
}

/** Creates the database of which `createPostgres` makes copies: that is faster than its statements. */
export async function createTemplate(server: string, name: string): Promise<void> {
  const url = new URL(server);
  await oneConnection(url.href).query(`CREATE DATABASE ${name}`);
  url.pathname = name;
  const prisma = connectPostgres(url.href, 1);
  await migratePostgres(prisma);
  // PostgreSQL copies no database that has a connection.
  await prisma.$disconnect();
}

const migratePostgres = (prisma: PostgresClient) =>
  applyMigrations(prisma, `${SCHEMAS}postgresql/migrations`);

const connections = new Map<string, Pool>();

/** One connection of this process to a database, which does not keep the process alive. */
export function oneConnection(url: string): Pool {
  let pool = connections.get(url);
  if (pool === undefined) {
    pool = new Pool({ connectionString: url, max: 1, allowExitOnIdle: true });
    // Tests stop servers. The next statement connects again.
    pool.on("error", () => {});
    connections.set(url, pool);
  }
  return pool;
}

/** The URL of the MySQL or MariaDB server for tests, if there is one. */
export const mysqlUrl = process.env["TEST_MYSQL_URL"];

/**
 * @param charset the default character set of the database. @default the server's
 * @param prefix the beginning of the database's name.
 */
export async function createMysql(
  server: string = mysqlUrl!,
  charset?: string,
  prefix = "limits",
): Promise<TestDatabase<MysqlClient>> {
  const name = `${prefix}_${randomUUID().replaceAll("-", "")}`;
  const admin = connectMysql(server, 1);
  const encoding = charset === undefined ? "" : `CHARACTER SET ${charset}`;
  await admin.$executeRawUnsafe(`CREATE DATABASE ${name} ${encoding}`);
  // `admin` connects again to drop the database.
  await admin.$disconnect();
  const url = new URL(server);
  url.pathname = name;
  const database = open(url.href, connectMysql, async () => {
    await admin.$executeRawUnsafe(`DROP DATABASE ${name}`);
    await admin.$disconnect();
  });
  await applyMigrations(database.prisma, `${SCHEMAS}mysql/migrations`);
  return database;
}

/**
 * Every store that several processes can share. MySQL is included if TEST_MYSQL_URL is set.
 * Otherwise `test/server/store/sql/mysql/mysql.test.ts` reports a skipped test.
 */
export const sharedDatabases: {
  name: string;
  kind: StoreKind;
  provider: Provider;
  create: () => Promise<TestDatabase>;
}[] = [
  { name: "SQLite", kind: "sqlite", provider: "sqlite", create: createSqlite },
  {
    name: "PostgreSQL",
    kind: "postgresql",
    provider: "postgresql",
    create: () => createPostgres(),
  },
  {
    name: "PostgreSQL through pg",
    kind: "pg",
    provider: "postgresql",
    create: () => createPostgres(),
  },
];
if (mysqlUrl !== undefined) {
  sharedDatabases.push({
    name: "MySQL or MariaDB",
    kind: "mysql",
    provider: "mysql",
    create: () => createMysql(),
  });
  sharedDatabases.push({
    name: "MySQL or MariaDB through mysql2",
    kind: "mysql2",
    provider: "mysql",
    create: () => createMysql(),
  });
}

async function applyMigrations(client: Client, folder: string): Promise<void> {
  for (const { statements } of await readMigrations(folder)) {
    for (const statement of statements) await client.$executeRawUnsafe(statement);
  }
}

function open<TClient extends Client>(
  url: string,
  connectTo: (url: string) => TClient,
  close: () => Promise<void>,
): TestDatabase<TClient> {
  const clients: TClient[] = [];
  const connect = () => {
    const client = connectTo(url);
    clients.push(client);
    return client;
  };
  return {
    url,
    prisma: connect(),
    connect,
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.$disconnect()));
      await close();
    },
  };
}

/** A copy of the client that calls `before` before each raw query. */
export function intercept(
  prisma: SqliteClient,
  before: (text: string, params: unknown[]) => Promise<void>,
): PrismaLike {
  const { _activeProvider, _runtimeDataModel } = prisma as unknown as Record<string, unknown>;
  const client = {
    _activeProvider,
    _runtimeDataModel,
    async $queryRawUnsafe(text: string, ...params: unknown[]): Promise<unknown> {
      await before(text, params);
      return prisma.$queryRawUnsafe(text, ...params);
    },
    $executeRawUnsafe: prisma.$executeRawUnsafe.bind(prisma),
    $transaction: prisma.$transaction.bind(prisma),
  };
  return client;
}
