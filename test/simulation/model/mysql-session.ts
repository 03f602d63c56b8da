/** A connection to the model of MySQL or MariaDB. */
import type { InnodbTransaction } from "./innodb.js";
import { done, type MysqlServer } from "./mysql.js";
import { type Level, ModelError } from "./rows.js";
import type { Answer, ModelSession } from "./server.js";

const LEVELS: Record<string, Level> = {
  "READ COMMITTED": "read committed",
  "REPEATABLE READ": "repeatable read",
  SERIALIZABLE: "serializable",
};

/** `innodb_lock_wait_timeout`, ms. */
const LOCK_WAIT = 50_000;

export class MysqlSession implements ModelSession {
  #tx: InnodbTransaction | undefined;
  /** The transaction of the running statement. */
  #running: InnodbTransaction | undefined;
  /** The isolation level of the next transaction. */
  #level: Level | undefined;
  #lockWait = LOCK_WAIT;
  #keptLockWait = LOCK_WAIT;

  constructor(readonly server: MysqlServer) {}

  get isInTransaction(): boolean {
    return this.#tx !== undefined;
  }

  async query(text: string, params: readonly unknown[], sentAt = 0): Promise<Answer> {
    const level = /^SET TRANSACTION ISOLATION LEVEL (.+)$/.exec(text)?.[1];
    if (level !== undefined) {
      if (this.#tx) throw new Error("the level of an open transaction cannot be changed");
      this.#level = LEVELS[level]!;
      return done(0);
    }
    if (text === "START TRANSACTION") {
      if (this.#tx) this.#end(true);
      this.#tx = this.#begin();
      return done(0);
    }
    if (text === "COMMIT" || text === "ROLLBACK") return this.#end(text === "COMMIT");
    if (text.startsWith("SET ")) {
      const known = this.#set(text);
      if (known) return done(0);
    }
    return this.#run(text, params, sentAt);
  }

  #begin(): InnodbTransaction {
    // Single statements also run at REPEATABLE READ, the default of both databases.
    const tx = this.server.innodb.begin(this.#level ?? "repeatable read");
    this.#level = undefined;
    return tx;
  }

  /** @returns whether the model knows the setting. */
  #set(text: string): boolean {
    if (text.startsWith("SET @rate_limit_lock_wait = @@innodb_lock_wait_timeout, ")) {
      this.#keptLockWait = this.#lockWait;
      this.#lockWait = 1000 * Number(/innodb_lock_wait_timeout = (\d+)$/.exec(text)![1]);
      return true;
    }
    if (text === "SET innodb_lock_wait_timeout = @rate_limit_lock_wait") {
      this.#lockWait = this.#keptLockWait;
      return true;
    }
    return false;
  }

  async #run(text: string, params: readonly unknown[], sentAt: number): Promise<Answer> {
    const { server } = this;
    const { innodb } = server;
    const statement = server.statementOf(text);
    const isWrite = /^\s*(SET STATEMENT .*? FOR\s+)?(INSERT|UPDATE|DELETE)\b/.test(text);
    if (server.isReadOnly && isWrite) throw server.errorOf("read-only");
    const tx = this.#tx ?? this.#begin();
    const isAlone = this.#tx === undefined;
    tx.lockTimeout = this.#lockWait;
    this.#running = tx;
    tx.sentAt = sentAt;
    const savepoint = innodb.savepoint(tx);
    try {
      const answer = await statement(tx, params);
      if (isAlone) innodb.finish(tx, true);
      return answer;
    } catch (error) {
      const isDeadlock = error instanceof ModelError && error.reason === "deadlock";
      if (isAlone || isDeadlock) {
        innodb.finish(tx, false);
        // Later statements run outside of the transaction, and are committed at once.
        if (!isAlone) this.#tx = undefined;
      } else innodb.undo(tx, savepoint);
      throw error instanceof ModelError ? server.errorOf(error.reason) : error;
    } finally {
      this.#running = undefined;
    }
  }

  #end(commits: boolean): Answer {
    const { server } = this;
    const tx = this.#tx;
    this.#tx = undefined;
    if (tx === undefined) return done(0);
    const isRefused = commits && server.isReadOnly && tx.writes.size > 0;
    server.innodb.finish(tx, commits && !isRefused);
    if (isRefused) throw server.errorOf("read-only");
    return done(0);
  }

  close(): void {
    const { innodb } = this.server;
    for (const tx of [this.#running, this.#tx]) {
      if (tx === undefined) continue;
      innodb.rows.locks.leave(tx);
      innodb.finish(tx, false);
    }
    this.#tx = undefined;
  }
}
