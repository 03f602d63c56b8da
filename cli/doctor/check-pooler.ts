/**
 * Finds a pooler in transaction mode, such as PgBouncer, between this process and PostgreSQL. Through
 * such a pooler, two clients that are connected at the same time get the same server process. A prepared
 * statement is then tried on another server process than the process that has prepared it.
 */
import { failure, type Finding, messageOf, ok, warning } from "./finding.js";

export interface Session {
  query(query: { name?: string; text: string }): Promise<{ rows: unknown[] }>;
  end(): Promise<void>;
}

export type OpenSession = () => Promise<Session>;

const CHECK = "pooler";
/** The number of clients that each hold a server process. */
const HOLDERS = 3;
const PROCESS = { text: "SELECT pg_backend_pid() AS pid" };
const NAMED = { name: "rate_limit_doctor", text: "SELECT 1" };

export async function checkPooler(open: OpenSession): Promise<Finding> {
  const sessions: Session[] = [];
  const start = async () => {
    const session = await open();
    sessions.push(session);
    return session;
  };
  try {
    const first = await start();
    await first.query(NAMED);
    const before = await processOf(first);
    let isShared = false;
    for (let i = 0; i < HOLDERS && !isShared; i++) {
      const holder = await start();
      await holder.query({ text: "BEGIN" });
      isShared = (await processOf(holder)) === before;
    }
    if (!isShared) return ok(CHECK, "there is no pooler in transaction mode");
    return await tryPrepared(first);
  } finally {
    await Promise.all(sessions.map((session) => session.end().catch(() => {})));
  }
}

/** @param session has prepared the statement on a server process that another client holds now. */
async function tryPrepared(session: Session): Promise<Finding> {
  const listening =
    "LISTEN does not work through it, so give postgresChannel a URL that goes to PostgreSQL";
  try {
    await session.query(NAMED);
    return warning(
      CHECK,
      "there is a pooler in transaction mode; it supports prepared statements",
      listening,
    );
  } catch (error) {
    return failure(
      CHECK,
      `there is a pooler in transaction mode that breaks prepared statements (${messageOf(error)})`,
      "give the store prepare: false, or use PgBouncer 1.21 or later with max_prepared_statements; " +
        listening,
    );
  }
}

async function processOf(session: Session): Promise<number> {
  const { rows } = await session.query(PROCESS);
  return (rows[0] as { pid: number }).pid;
}
