/** Prisma clients on a database's URL. Usable outside the test runner too. */
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient as SqliteClient } from "../../prisma/generated/client/client.js";
import { PrismaClient as MysqlClient } from "../../prisma/generated/mysql/client.js";
import { PrismaClient as PostgresClient } from "../../prisma/generated/postgresql/client.js";

export type { MysqlClient, PostgresClient, SqliteClient };

/** The methods that the tests use. The clients differ only in their types. */
export type Client = Pick<
  SqliteClient,
  "$queryRaw" | "$queryRawUnsafe" | "$executeRaw" | "$executeRawUnsafe" | "$disconnect"
>;

export function connectSqlite(url: string): SqliteClient {
  return new SqliteClient({ adapter: new PrismaLibSql({ url, timeout: 5000 }) });
}

/** @param connections the size of the pool. @default the driver's */
export function connectPostgres(url: string, connections?: number): PostgresClient {
  const pool = connections === undefined ? {} : { max: connections };
  return new PostgresClient({ adapter: new PrismaPg({ connectionString: url, ...pool }) });
}

export function connectMysql(url: string, connectionLimit = 10): MysqlClient {
  const { hostname, port, username, password, pathname } = new URL(url);
  const adapter = new PrismaMariaDb({
    host: hostname,
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    connectionLimit,
  });
  return new MysqlClient({ adapter });
}

/** Only PostgreSQL uses the size of the pool. The other clients use the driver's default. */
export const connectors = {
  sqlite: (url: string, _connections?: number) => connectSqlite(url),
  postgresql: connectPostgres,
  mysql: connectMysql,
};

export type Provider = keyof typeof connectors;
