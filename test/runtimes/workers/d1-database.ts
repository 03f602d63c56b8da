/** A D1 database of miniflare, with the table of limits, for tests in this process. */
import { readFile } from "node:fs/promises";
import type { D1DatabaseLike } from "../../../server/index.js";
import { startWorker, type StartedWorker } from "./start-worker.js";

const MIGRATION = new URL("../../../prisma/migrations/", import.meta.url);

/** A worker that does nothing but hold the database. */
const IDLE = "export default { fetch: () => new Response() };";

export function startD1(): Promise<StartedWorker> {
  return startWorker(IDLE, { d1Databases: ["DB"] });
}

/** Creates the table as the migration of the package does, or empties it. */
export async function emptyTable(db: D1DatabaseLike): Promise<void> {
  const text = await migration();
  await db.prepare(text.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")).all();
  await db.prepare('DELETE FROM "RateLimit"').all();
}

async function migration(): Promise<string> {
  const text = await readFile(
    new URL("20261121000000_rate_limit/migration.sql", MIGRATION),
    "utf8",
  );
  return text.replaceAll(/^--.*$/gm, "");
}
