/**
 * A primary of PostgreSQL and its standby, with streaming replication on loopback. Both servers begin as
 * copies of the files of one stopped server. Such a copy works like `pg_basebackup`, and takes a tenth of
 * a second.
 */
import { execFile } from "node:child_process";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { readMigrations } from "../../example-app/shared/server/migrate.js";
import {
  createCluster,
  type PostgresPrograms,
  type PostgresServer,
  runPostgres,
  unprivilegedUser,
} from "../support/postgres-server.js";
import { findPostgres } from "./postgres-programs.js";
import { startSwitchProxy, type SwitchProxy } from "./switch-proxy.js";

const MIGRATIONS = fileURLToPath(new URL("../../prisma/postgresql/migrations", import.meta.url));

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  fsync: "off",
  shared_buffers: "16MB",
  max_connections: 80,
  wal_retrieve_retry_interval: "100ms",
};

export interface PairOptions {
  /** Whether a commit waits for the standby. */
  synchronous: boolean;
  /** Settings of the standby, which are its own after its promotion, too. */
  standby?: Record<string, string> | undefined;
}

export interface Pair {
  primary: PostgresServer;
  standby: PostgresServer;
  /** Carries the replication. */
  replication: SwitchProxy;
  /** Resolves when the standby accepts writes. */
  promote(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Replication {
  /** Starts a pair whose table of limits is empty. */
  startPair(options: PairOptions): Promise<Pair>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function createReplication(): Promise<Replication> {
  const programs = await findPostgres();
  const user = await unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "failover-"));
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
  const template = join(folder, "template");
  // Small files of WAL, because each pair writes some anew.
  await createCluster(programs, template, ["--wal-segsize=1"]);
  const server = await runPostgres(programs, template, SETTINGS);
  await prepare(server.url);
  await server.stop();
  let pairs = 0;
  return {
    startPair: (options) => startPair(programs, template, join(folder, String(pairs++)), options),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The table of limits, and a clock that `setting test.skew` moves; see `SKEWED`. */
async function prepare(url: string): Promise<void> {
  for (const { statements } of await readMigrations(MIGRATIONS)) {
    for (const statement of statements) await ask(url, statement);
  }
  await ask(
    url,
    `CREATE SCHEMA skewed;
     CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
       $$ SELECT pg_catalog.clock_timestamp() + current_setting('test.skew')::interval $$`,
  );
}

/**
 * Settings of a server whose clock is wrong by an interval. A store learns the time of a server only
 * by `clock_timestamp()`, so another function of that name, earlier in the search path, is another
 * clock. Rejected: the library of Debian's package `faketime`, which also changes the time-outs of
 * the server and of its replication, and is not installed on most machines.
 */
export function skewedBy(interval: string): Record<string, string> {
  return { search_path: "skewed, pg_catalog, public", "test.skew": interval };
}

async function startPair(
  programs: PostgresPrograms,
  template: string,
  folder: string,
  { synchronous, standby: settings }: PairOptions,
): Promise<Pair> {
  const copy = (to: string) => promisify(execFile)("cp", ["-a", template, to]);
  await Promise.all([copy(`${folder}-a`), copy(`${folder}-b`)]);
  const primary = await runPostgres(programs, `${folder}-a`, {
    ...SETTINGS,
    synchronous_standby_names: synchronous ? "*" : "",
  });
  const replication = await startSwitchProxy(primary.url);
  await writeFile(join(`${folder}-b`, "standby.signal"), "");
  const { hostname, port } = new URL(replication.url);
  const standby = await runPostgres(programs, `${folder}-b`, {
    ...SETTINGS,
    ...settings,
    primary_conninfo: `host=${hostname} port=${port} user=postgres`,
  });
  const wanted = synchronous ? "sync" : "async";
  await until(async () => {
    const [row] = await ask(primary.url, "SELECT state, sync_state FROM pg_stat_replication");
    return row?.["state"] === "streaming" && row["sync_state"] === wanted;
  });
  return {
    primary,
    standby,
    replication,
    async promote() {
      // A statement that waits for the promotion can conflict with what the standby still applies.
      await ask(standby.url, "SELECT pg_promote(wait => false)");
      await until(async () => {
        const [row] = await ask(standby.url, "SELECT pg_is_in_recovery() AS waits");
        return row?.["waits"] === false;
      });
    },
    async [Symbol.asyncDispose]() {
      await replication[Symbol.asyncDispose]();
      for (const server of [primary, standby]) {
        await server.kill().catch(() => {});
      }
    },
  };
}

export async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20);
}
