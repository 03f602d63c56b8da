/** The connections of a `pg.Pool`. */
import { Connections } from "../pools/connections.js";
import { isHeard } from "../pools/pool-errors.js";
import { isReadOnly } from "../../sql/postgresql/errors.js";
import type { PgClientLike, PgPoolLike } from "./pg-client.js";

export function createPgConnections(pool: PgPoolLike): Connections<PgClientLike> {
  return new Connections<PgClientLike>({
    idleCount: () => pool.idleCount ?? 0,
    isExhausted: () => (pool.waitingCount ?? 0) > 0,
    connect: (callback) => pool.connect(callback),
    release: (client, error) => client.release(error),
    probe: (client) => client.query({ text: "SELECT 1" }),
    isAnswer: isPgAnswer,
    // A substitute of the pool may not tell which connections it lends.
    on(client, event, listener) {
      if (!isHeard(client)) client.on(event, listener);
    },
    removeListener(client, event, listener) {
      if (!isHeard(client)) client.removeListener(event, listener);
    },
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
