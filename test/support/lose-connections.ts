/**
 * A process whose database closes its connections, as in a restart. Its pool is opened as the
 * documentation shows: nothing listens to its errors. Arguments: the kind of store, the database's
 * URL, and whether the connections are `idle` or in the middle of a `transaction` then.
 *
 * Prints the messages that the limiter's logger receives, and at last "alive".
 */
import { PrismaPg } from "@prisma/adapter-pg";
import { drizzle } from "drizzle-orm/node-postgres";
import { Kysely, PostgresDialect } from "kysely";
import * as mariadb from "mariadb";
import mysql2 from "mysql2/promise";
import pg from "pg";
import { PrismaClient } from "../../prisma/generated/postgresql/client.js";
import { drizzleStore } from "../../server/drizzle/index.js";
import {
  createRateLimiter,
  DAY,
  mysqlStore,
  pgStore,
  prismaStore,
  type RateLimitStore,
} from "../../server/index.js";
import { kyselyStore } from "../../server/kysely/index.js";
import type { KyselyTables } from "./open-orm.js";

const [kind = "", url = "", state = ""] = process.argv.slice(2);

const stores: Record<string, () => unknown> = {
  pg: () => pgStore(new pg.Pool({ connectionString: url })),
  "pg that keeps one connection": () =>
    pgStore(new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 })),
  "drizzle pg": () => drizzleStore(drizzle(new pg.Pool({ connectionString: url }))),
  "kysely pg": () => {
    const pool = new pg.Pool({ connectionString: url });
    const dialect = new PostgresDialect({ pool });
    return kyselyStore(new Kysely<KyselyTables>({ dialect }), { pool });
  },
  "pg and prisma": () => {
    const pool = new pg.Pool({ connectionString: url });
    return prismaStore(new PrismaClient({ adapter: new PrismaPg(pool) }), { pool });
  },
  postgresql: () =>
    prismaStore(new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })),
  mariadb: () => mysqlStore(mariadb.createPool(url.replace(/^mysql/, "mariadb"))),
  mysql2: () => mysqlStore(mysql2.createPool(url)),
};

const write = (message: string) => console.log(message);
const limiter = createRateLimiter({
  store: stores[kind]!() as RateLimitStore,
  limits: { few: { kind: "token bucket", rate: 10, period: DAY } },
  logger: { warn: write, error: write },
});

await limiter.limit("few");
if (state === "idle") await closeConnections();
else await limiter.transaction(loseTransaction).catch(() => {});
while (!(await limiter.check("few").catch(() => ({ ok: false }))).ok);
write("alive");
process.exit();

async function loseTransaction({ limit }: { limit(name: "few"): Promise<unknown> }) {
  await limit("few");
  await closeConnections();
  await limit("few");
}

/** Resolves when this process, too, has been told that its connections are closed. */
async function closeConnections(): Promise<void> {
  if (url.startsWith("mysql")) {
    const admin = await mysql2.createConnection(url);
    const [rows] = await admin.query<mysql2.RowDataPacket[]>(
      "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
    );
    for (const { id } of rows) await admin.query(`KILL ${id}`);
    for (let turn = 0; turn < 10; turn++) await admin.query("SELECT 1");
    return admin.destroy();
  }
  const admin = new pg.Client(url);
  await admin.connect();
  const others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> $1";
  const { rows } = await admin.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const own = [rows[0]!.pid];
  await admin.query(`SELECT pg_terminate_backend(pid) ${others}`, own);
  while ((await admin.query(`SELECT ${others}`, own)).rows.length > 0);
  for (let turn = 0; turn < 10; turn++) await admin.query("SELECT 1");
  await admin.end();
}
