/** A pool of `pg` on a database of the tests. */
import pg from "pg";

/** @param connections the size of the pool. @default the driver's */
export function connectPool(url: string, connections?: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    ...(connections !== undefined && { max: connections }),
  });
  // An idle connection emits an error when the server closes it. Ignore it.
  pool.on("error", () => {});
  return pool;
}
