/**
 * Connections that no longer answer. After a failover that does not tell its clients, old connections
 * stay open for ever. Such connections are destroyed, so that the pool opens others.
 */
import { type Linked, LinkedList } from "../../../timers/linked-list.js";
import { startTimer, type Timer } from "../../../timers/timer.js";
import { asError, giveBack, lend, type PoolAccess } from "./lending.js";

/**
 * A connection whose statement has no answer after this time, ms, is destroyed. The statement may also
 * wait for a lock, and then it stays behind on the server. So the time doubles after each destroyed
 * connection, up to `LONGEST`.
 */
const SILENT_AFTER = 5000;
const LONGEST = 300_000;
/** After so long without a destroyed connection, the time is `SILENT_AFTER` again, ms. */
const FORGET_AFTER = 600_000;
/** How long a connection may take to answer a probe, ms. */
const PROBE_TIMEOUT = 1000;

/** A statement that is in flight outside of a transaction. */
export interface Statement<TClient> extends Linked<Statement<TClient>> {
  readonly client: TClient;
  /** By the monotonic clock. */
  readonly sentAt: number;
  /** How long the statement may take, ms. */
  readonly patience: number;
  reject(error: Error): void;
}

export class SilentConnections<TClient extends object> {
  readonly #pool: PoolAccess<TClient>;
  readonly #inFlight = new LinkedList<Statement<TClient>>();
  readonly #answeredAt = new WeakMap<TClient, number>();
  /** When the last statement without an answer was sent. */
  #unansweredSince = -Infinity;
  #silentAfter = SILENT_AFTER;
  #destroyedAt = -Infinity;
  #alarm: Timer | undefined;

  constructor(pool: PoolAccess<TClient>) {
    this.#pool = pool;
  }

  /** Whether any connection has been silent. Until then, none is in doubt. */
  get haveBeen(): boolean {
    return this.#unansweredSince !== -Infinity;
  }

  /** Whether a connection has not answered since another one was silent. */
  isInDoubt(client: TClient): boolean {
    return this.haveBeen && (this.#answeredAt.get(client) ?? -Infinity) <= this.#unansweredSince;
  }

  /**
   * Destroys the connection of a statement, and rejects, if the statement has no answer in time. One
   * timer watches all statements, because a timer for each statement takes 6 % of a lone call.
   */
  watch(client: TClient, reject: (error: Error) => void): Statement<TClient> {
    const sentAt = performance.now();
    const statement: Statement<TClient> = {
      client,
      sentAt,
      patience: this.#patience(sentAt),
      reject,
      before: undefined,
      after: undefined,
    };
    this.#inFlight.append(statement);
    if (this.#alarm === undefined) this.#alarm = this.#wake(statement.patience);
    return statement;
  }

  /** Ends the watch. Returns false if the connection was destroyed meanwhile. */
  endWatch(statement: Statement<TClient>, isAnswered: boolean): boolean {
    if (isAnswered && this.haveBeen) this.#answeredAt.set(statement.client, performance.now());
    return this.#inFlight.remove(statement);
  }

  /** Whether a connection answers. A silent one is destroyed. */
  probe(client: TClient): Promise<boolean> {
    return new Promise((resolve) => {
      let isDestroyed = false;
      const destroy = (error: unknown) => {
        timer.stop();
        // Destroying the connection also makes the query of the probe fail, which calls `destroy`
        // again.
        if (isDestroyed) return;
        isDestroyed = true;
        giveBack(this.#pool, client, asError(error));
        resolve(false);
      };
      const timer = startTimer(
        () => destroy(new Error(`the connection did not answer within ${PROBE_TIMEOUT} ms`)),
        PROBE_TIMEOUT,
      );
      this.#pool.probe(client).then(() => {
        timer.stop();
        if (isDestroyed) return;
        this.#answeredAt.set(client, performance.now());
        resolve(true);
      }, destroy);
    });
  }

  #patience(now: number): number {
    return now - this.#destroyedAt > FORGET_AFTER ? SILENT_AFTER : this.#silentAfter;
  }

  #wake(ms: number): Timer {
    // The patience of a later statement may be shorter again.
    const next = startTimer(() => this.#destroySilent(), Math.min(ms, SILENT_AFTER));
    next.unref();
    return next;
  }

  #destroySilent(): void {
    const now = performance.now();
    let wait = Infinity;
    const all: Statement<TClient>[] = [];
    let each = this.#inFlight.oldest;
    for (; each !== undefined; each = each.after) all.push(each);
    for (const statement of all) {
      // The end of a connection may have ended other statements of the list.
      if (!this.#inFlight.has(statement)) continue;
      const left = statement.sentAt + statement.patience - now;
      // Timers may fire a little early.
      if (left <= 1) this.#destroy(statement);
      else wait = Math.min(wait, left);
    }
    this.#alarm = wait === Infinity ? undefined : this.#wake(wait);
  }

  #destroy(statement: Statement<TClient>): void {
    const { client, sentAt, patience, reject } = statement;
    this.#inFlight.remove(statement);
    this.#noteSilence(sentAt);
    const error = Object.assign(new Error(`the database did not answer within ${patience} ms`), {
      code: "RATE_LIMIT_NO_ANSWER",
    });
    this.#pool.release(client, error);
    // Not every client rejects the statements of a destroyed connection.
    reject(error);
  }

  #noteSilence(sentAt: number): void {
    this.#unansweredSince = Math.max(this.#unansweredSince, sentAt);
    const now = performance.now();
    // Statements that were in flight together count once.
    if (sentAt >= this.#destroyedAt) {
      this.#silentAfter = Math.min(2 * this.#patience(now), LONGEST);
      for (let i = this.#pool.idleCount(); i > 0; i--) {
        lend(this.#pool).then((client) => this.#probeIdle(client), ignore);
      }
    }
    this.#destroyedAt = now;
  }

  async #probeIdle(client: TClient): Promise<void> {
    if (await this.probe(client)) giveBack(this.#pool, client);
  }
}

function ignore(): void {}
