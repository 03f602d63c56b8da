/** One connection to the model of PostgreSQL: its transaction, and how the transaction ends. */
import type { PostgresqlServer } from "./postgresql.js";
import { type Level, ModelError, type ModelTransaction } from "./rows.js";
import { type Answer, answer, type ModelSession } from "./server.js";

const LEVELS: Record<string, Level> = {
  "READ COMMITTED": "read committed",
  "REPEATABLE READ": "repeatable read",
  SERIALIZABLE: "serializable",
};

export class PostgresqlSession implements ModelSession {
  #tx: ModelTransaction | undefined;
  /** The transaction of the running statement. */
  #running: ModelTransaction | undefined;

  constructor(readonly server: PostgresqlServer) {}

  get isInTransaction(): boolean {
    return this.#tx !== undefined;
  }

  async query(text: string, params: readonly unknown[], sentAt = 0): Promise<Answer> {
    const { server } = this;
    const begin = /^BEGIN ISOLATION LEVEL (.*)$/.exec(text);
    if (begin) {
      this.#tx = server.rows.begin(LEVELS[begin[1]!]!);
      return { ...answer([]), command: "BEGIN" };
    }
    if (text === "COMMIT" || text === "ROLLBACK") return this.#end(text);
    if (this.#tx?.isAborted) throw server.errorOf("transaction aborted");
    const setTimeout = /^SET LOCAL lock_timeout = (\d+)$/.exec(text);
    if (setTimeout) {
      if (this.#tx) this.#tx.lockTimeout = Number(setTimeout[1]);
      return answer([]);
    }
    const statement = server.statementOf(text);
    const tx = this.#tx ?? server.rows.begin("read committed");
    this.#running = tx;
    tx.sentAt = sentAt;
    try {
      if (server.isReadOnly && !text.trim().startsWith("SELECT")) throw new ModelError("read-only");
      const result = await statement(tx, params);
      if (this.#tx === undefined) server.rows.finish(tx, true);
      return result;
    } catch (error) {
      // The locks are released at once, although the transaction stays open until its ROLLBACK.
      server.rows.finish(tx, false);
      tx.isAborted = true;
      throw error instanceof ModelError ? server.errorOf(error.reason) : error;
    } finally {
      this.#running = undefined;
    }
  }

  async #end(command: "COMMIT" | "ROLLBACK"): Promise<Answer> {
    const tx = this.#tx;
    this.#tx = undefined;
    if (tx === undefined) return { ...answer([]), command };
    if (command === "ROLLBACK" || tx.isAborted) {
      this.server.rows.finish(tx, false);
      return { ...answer([]), command: "ROLLBACK" };
    }
    if (tx.hasStaleReads()) {
      this.server.rows.finish(tx, false);
      throw this.server.errorOf("serialization failure");
    }
    this.server.rows.finish(tx, true);
    return { ...answer([]), command };
  }

  close(): void {
    for (const tx of [this.#running, this.#tx]) {
      if (tx === undefined) continue;
      this.server.rows.locks.leave(tx);
      this.server.rows.finish(tx, false);
    }
    this.#tx = undefined;
  }
}
