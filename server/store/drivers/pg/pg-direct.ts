/**
 * Whether a connection of `pg` goes to PostgreSQL itself, or to a pooler such as PgBouncer. A pooler
 * in transaction mode may run each statement on another server process, where a prepared statement
 * does not exist. PostgreSQL tells its process id when a connection opens. A pooler tells another
 * one, because the process changes.
 */
import type { PgQuery, PgQueryable, PgResult } from "./pg-client.js";
import { isPgAnswer } from "./pg-connections.js";

const PROCESS: PgQuery = { text: "SELECT pg_backend_pid() AS pid" };

/** SQLSTATEs of a prepared statement that is not there, or is there already. Nothing was run then. */
const NOT_RUN = new Set(["26000", "42P05"]);

/** By connection. Those that were not asked are missing. */
const direct = new WeakMap<PgQueryable, boolean>();

/** Runs a named query without its name, unless the connection is known to go to PostgreSQL itself. */
export function queryNamedIfDirect(client: PgQueryable, query: PgQuery): Promise<PgResult> {
  const isDirect = direct.get(client);
  if (isDirect === undefined) return ask(client).then(() => queryNamedIfDirect(client, query));
  if (!isDirect) return client.query(unnamed(query));
  return client.query(query).catch((error: unknown) => {
    // The application may have run DISCARD ALL on the connection.
    if (!NOT_RUN.has((error as { code?: string }).code ?? "")) throw error;
    direct.set(client, false);
    return client.query(unnamed(query));
  });
}

function unnamed({ text, values }: PgQuery): PgQuery {
  return values === undefined ? { text } : { text, values };
}

async function ask(client: PgQueryable): Promise<void> {
  // Not in the types of `pg`, and `undefined` with `pg-native`.
  const { processID } = client as { processID?: unknown };
  let isDirect = false;
  try {
    const { rows } = await client.query(PROCESS);
    isDirect = Number((rows[0] as { pid: unknown }).pid) === processID;
  } catch (error) {
    // A database without this function is not PostgreSQL.
    if (!isPgAnswer(error)) throw error;
  }
  direct.set(client, isDirect);
}
