/** A D1 database of miniflare, with the tables of the package, for tests in this process. */
import { readdir, readFile } from "node:fs/promises";
import type { D1DatabaseLike } from "../../../server/index.js";
import { startWorker, type StartedWorker } from "./start-worker.js";

const MIGRATIONS = new URL("../../../prisma/migrations/", import.meta.url);

/** A worker that does nothing but hold the database. */
const IDLE = "export default { fetch: () => new Response() };";

const startD1 = () => startWorker(IDLE, { d1Databases: ["DB"] });

export interface EmptyD1 extends AsyncDisposable {
  /** Resolves with the database, without rows. */
  open(): Promise<D1DatabaseLike>;
}

/**
 * A database that tests use one after the other. On a busy machine, an assertion in miniflare can break
 * its connection to workerd. The next test then gets a new database.
 */
export function emptyD1(): EmptyD1 {
  let worker: StartedWorker | undefined;
  const stop = async () => {
    const stopping = worker;
    worker = undefined;
    await stopping?.[Symbol.asyncDispose]();
  };
  const open = async () => {
    worker ??= await startD1();
    const db = await worker.d1("DB");
    await emptyTable(db);
    return db;
  };
  return {
    open: () =>
      open().catch(async () => {
        await stop().catch(() => {});
        return open();
      }),
    [Symbol.asyncDispose]: stop,
  };
}

/** Creates the tables as the migrations of the package do, or empties them. */
export async function emptyTable(db: D1DatabaseLike): Promise<void> {
  for (const text of await migrations()) {
    await db.prepare(text.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")).all();
  }
  for (const table of ["RateLimit", "RateLimitOverride"]) {
    await db.prepare(`DELETE FROM "${table}"`).all();
  }
}

async function migrations(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  const texts = folders.map(({ name }) =>
    readFile(new URL(`${name}/migration.sql`, MIGRATIONS), "utf8"),
  );
  return (await Promise.all(texts)).map((text) => text.replaceAll(/^--.*$/gm, ""));
}
