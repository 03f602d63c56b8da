/**
 * The parts of a binding to Cloudflare D1 that a store needs. They are structural types, so the
 * package imports none, and works with the binding of the application.
 */

/** The answer to one statement. */
export interface D1ResultLike {
  /** The rows, keyed by column. */
  results: unknown[];
  /** What the statement has done, such as `changes`: how many rows were written. */
  meta: object;
}

/** A prepared statement. */
export interface D1StatementLike {
  /** The statement with its parameters. */
  bind(...params: never[]): D1StatementLike;
  /** Runs the statement. */
  all(): Promise<D1ResultLike>;
}

/** A `D1Database`, such as `env.DB`. */
export interface D1DatabaseLike {
  /** Prepares one statement. */
  prepare(text: string): D1StatementLike;
  /** Runs statements in one transaction. */
  batch(statements: never[]): Promise<D1ResultLike[]>;
  /** Runs text without parameters. */
  exec(text: string): Promise<unknown>;
}

/** Whether it is a binding to D1. A session of one is not: its reads may be older than its writes. */
export function isD1(db: unknown): db is D1DatabaseLike {
  if (typeof db !== "object" || db === null) return false;
  const { prepare, batch, exec } = db as Partial<D1DatabaseLike>;
  return [prepare, batch, exec].every((method) => typeof method === "function");
}

/** Whether it is what `withSession` of a binding returns. */
export function isD1Session(db: unknown): boolean {
  const { prepare, batch, getBookmark } = Object(db) as Record<string, unknown>;
  return [prepare, batch, getBookmark].every((method) => typeof method === "function");
}
