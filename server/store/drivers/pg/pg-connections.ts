/**
 * The connections of a `pg.Pool`: how they are lent, after which errors they are kept, and whether they
 * go to PostgreSQL itself.
 */
import { Connections, type Done } from "../pools/connections.js";
import { isReadOnly, isUnprepared } from "../../sql/postgresql/errors.js";
import type { PreparedTexts } from "../prepared-texts.js";
import type {
  PgCallable,
  PgClientLike,
  PgPoolLike,
  PgQuery,
  PgQueryable,
  PgResult,
} from "./pg-client.js";
import { KnownColumns } from "./prepared-query.js";
import { statementName } from "./statement-names.js";

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
 * SQLSTATEs after which the server or a pooler closes the connection, or after which the connection is
 * in doubt: a protocol violation, a shutdown, time-outs of sessions, and internal errors.
 */
const CLOSED_AFTER = /^(08|57P|25P0[34]|58|XX)/;

/**
 * Whether the connection can be kept: the server has sent the error. Only errors of the server have a
 * severity. The text of the severity does not matter, because it is in the language of the server.
 */
export function isPgAnswer(error: unknown): boolean {
  const { severity, code, errno } = (error ?? {}) as Record<string, unknown>;
  // Bun has its own code in `code`, and the code of the server in `errno`.
  const state = typeof errno === "string" ? errno : code;
  if (typeof severity !== "string" || typeof state !== "string") return false;
  return !CLOSED_AFTER.test(state) && !isReadOnly(error);
}

const PROCESS: PgQuery = { text: "SELECT pg_backend_pid() AS pid" };

/** Whether a connection goes to PostgreSQL itself. Connections that were not asked are missing. */
const direct = new WeakMap<PgQueryable, boolean>();

/** Sends a statement. */
export function sendQuery(client: PgQueryable, query: PgQuery, done: Done<PgResult>): void {
  const promise = (client as PgCallable).query(query, done);
  // `pg` returns nothing when it gets a callback. A substitute for `pg` may know promises only.
  promise?.then((result) => done(undefined, result), done);
}

/** Sends a query. */
export type Send = typeof sendQuery;

/** Called when a prepared statement of this version is lost, or does not fit its table any more. */
type WhenLost = (
  lost: { client: PgQueryable; query: PgQuery; version: number; error: unknown },
  done: Done<PgResult>,
) => void;

/**
 * Sends queries as prepared statements with names.
 *
 * @param whenLost by default, sends the query again without a name.
 */
export function sendingNamed(texts: PreparedTexts, whenLost: WhenLost = sendAgain(texts)): Send {
  const columns = new KnownColumns();
  return (client, query, done) => {
    const { version } = texts;
    const text = texts.of(query.text);
    if (text === undefined) return sendQuery(client, query, done);
    const { values = [], doublesFrom } = query;
    const named = { name: statementName(text), text, values, doublesFrom };
    const answered: Done<PgResult> = (error, result) => {
      if (error && isUnprepared(error)) return whenLost({ client, query, version, error }, done);
      if (result) columns.learn(named.name, result);
      done(error, result);
    };
    if (!columns.send(client, named, answered)) sendQuery(client, named, answered);
  };
}

function sendAgain(texts: PreparedTexts): WhenLost {
  return ({ client, query, version }, done) => {
    sendQuery(client, query, (error, result) => {
      if (!isUnprepared(error)) texts.renew(version);
      done(error, result);
    });
  };
}

/**
 * Sends as {@link sendingNamed} does, but only on connections that are known to go to PostgreSQL
 * itself. A pooler such as PgBouncer in transaction mode may run each statement on another server
 * process, where a prepared statement does not exist. When a connection opens, PostgreSQL tells the id
 * of its process. A pooler tells another id, because the process changes.
 */
export function sendingNamedIfDirect(texts: PreparedTexts): Send {
  const sendNamed = sendingNamed(texts);
  const send: Send = (client, query, done) => {
    const isDirect = direct.get(client);
    if (isDirect === undefined) ask(client).then(() => send(client, query, done), done);
    else if (isDirect) sendNamed(client, query, done);
    else sendQuery(client, query, done);
  };
  return send;
}

async function ask(client: PgQueryable): Promise<void> {
  // `processID` is not in the types of `pg`, and is `undefined` with `pg-native`.
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
