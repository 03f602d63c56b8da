/**
 * The connections of a `pg.Pool`: how they are lent, after which errors they are kept, and whether they
 * go to PostgreSQL itself.
 */
import { Connections, type Done } from "../pools/connections.js";
import { isReadOnly } from "../../sql/postgresql/errors.js";
import type {
  PgCallable,
  PgClientLike,
  PgPoolLike,
  PgQuery,
  PgQueryable,
  PgResult,
} from "./pg-client.js";
import { NOT_RUN } from "./statement-names.js";

export function createPgConnections(pool: PgPoolLike): Connections<PgClientLike> {
  return new Connections<PgClientLike>({
    idleCount: () => pool.idleCount ?? 0,
    isExhausted: () => (pool.waitingCount ?? 0) > 0,
    connect: (callback) => pool.connect(callback),
    release: (client, error) => client.release(error),
    probe: (client) => client.query({ text: "SELECT 1" }),
    isAnswer: isPgAnswer,
  });
}

/**
 * SQLSTATEs after which the server closes the connection, or a pooler does, or the connection is in
 * doubt: a protocol violation, a shutdown, time-outs of sessions, and internal errors.
 */
const CLOSED_AFTER = /^(08|57P|25P0[34]|58|XX)/;

/**
 * Whether the connection can be kept: the server has sent the error. Only such errors have a
 * severity. Its text does not matter, because it is in the language of the server.
 */
export function isPgAnswer(error: unknown): boolean {
  const { severity, code, errno } = (error ?? {}) as Record<string, unknown>;
  // Bun has a code of its own, and the server's here.
  const state = typeof errno === "string" ? errno : code;
  if (typeof severity !== "string" || typeof state !== "string") return false;
  return !CLOSED_AFTER.test(state) && !isReadOnly(error);
}

const PROCESS: PgQuery = { text: "SELECT pg_backend_pid() AS pid" };

/** By connection. Those that were not asked are missing. */
const direct = new WeakMap<PgQueryable, boolean>();

/** Sends a statement. */
export function sendQuery(client: PgQueryable, query: PgQuery, done: Done<PgResult>): void {
  const promise = (client as PgCallable).query(query, done);
  // `pg` returns nothing when it has a callback. What stands in its place may know promises only.
  promise?.then((result) => done(undefined, result), done);
}

/**
 * Sends a named query without its name, unless the connection is known to go to PostgreSQL itself. A
 * pooler such as PgBouncer in transaction mode may run each statement on another server process, where
 * a prepared statement does not exist. PostgreSQL tells its process id when a connection opens. A
 * pooler tells another one, because the process changes.
 */
export function sendNamedIfDirect(client: PgQueryable, query: PgQuery, done: Done<PgResult>): void {
  const isDirect = direct.get(client);
  if (isDirect === undefined) {
    ask(client).then(() => sendNamedIfDirect(client, query, done), done);
  } else if (!isDirect) sendQuery(client, unnamed(query), done);
  else {
    sendQuery(client, query, (error, result) => {
      // The application may have run DISCARD ALL on the connection.
      if (!NOT_RUN.has((error as { code?: string } | null)?.code ?? "")) return done(error, result);
      direct.set(client, false);
      sendQuery(client, unnamed(query), done);
    });
  }
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
