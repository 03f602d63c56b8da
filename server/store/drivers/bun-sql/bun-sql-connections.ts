/** The connections of a client of Bun for PostgreSQL or MySQL. */
import type { BunSqlLike, BunSqlOptions, BunSqlReserved } from "./bun-sql-client.js";
import { Connections } from "../pools/connections.js";
import { isMysqlAnswer } from "../mysql/mysql-connections.js";
import { isPgAnswer } from "../pg/pg-connections.js";

/** The size of a pool whose options do not name it, as Bun documents it. */
const MAX = 10;

/**
 * Each statement reserves a connection. A statement sent to the client itself could wait for minutes on
 * a connection that no longer answers, and nothing could close that connection.
 */
export function createBunSqlConnections(sql: BunSqlLike): Connections<BunSqlReserved> {
  const { max = MAX } = sql.options as BunSqlOptions;
  const lent = new Set<BunSqlReserved>();
  let waiting = 0;

  function release(reserved: BunSqlReserved, error?: Error): void {
    lent.delete(reserved);
    const released = error === undefined ? reserved.release() : reserved.close({ timeout: 0 });
    // The promise rejects if the connection broke meanwhile. The pool knows that already.
    Promise.resolve(released).catch(() => {});
  }

  async function reserve(): Promise<BunSqlReserved> {
    waiting++;
    try {
      const reserved = await sql.reserve();
      lent.add(reserved);
      return reserved;
    } finally {
      waiting--;
    }
  }

  return new Connections<BunSqlReserved>({
    // The client tells neither how many connections are idle nor how many requests wait. How many
    // connections the application uses is not known.
    idleCount: () => max - lent.size,
    isExhausted: () => waiting > 0 && lent.size >= max,
    connect: (callback) => {
      reserve().then(
        (reserved) => callback(undefined, reserved),
        (error: unknown) => callback(error, undefined),
      );
    },
    release,
    probe: (reserved) => reserved.unsafe("SELECT 1"),
    isAnswer: (error) => isPgAnswer(error) || isMysqlAnswer(error),
  });
}
