/** The connections of a `pg.Pool`. */
import { type Connections, createConnections } from "./connections.js";
import type { PgClientLike, PgPoolLike } from "./pg-client.js";

export function createPgConnections(pool: PgPoolLike): Connections<PgClientLike> {
  return createConnections<PgClientLike>({
    idleCount: () => pool.idleCount ?? 0,
    connect: (callback) => pool.connect(callback),
    release: (client, error) => client.release(error),
    probe: (client) => client.query({ text: "SELECT 1" }),
    isAnswer: (error) => (error as { severity?: unknown }).severity === "ERROR",
    on: (client, event, listener) => client.on(event, listener),
    removeListener: (client, event, listener) => client.removeListener(event, listener),
  });
}
