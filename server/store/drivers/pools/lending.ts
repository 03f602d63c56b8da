/** What a pool of connections can do, and how it lends one of them. */
import { startTimer } from "../../../timers/timer.js";

/** What a pool and its connections can do. */
export interface PoolAccess<TClient> {
  idleCount(): number;
  /** Whether requests wait because all connections that there may be are lent. */
  isExhausted(): boolean;
  /** By callback, because a connection can break before a promise of it is settled. */
  connect(callback: (error: unknown, client: TClient | undefined) => void): void;
  /** @param error destroys the connection instead of giving it back. */
  release(client: TClient, error?: Error): void;
  /** Runs a statement that any connection answers at once. */
  probe(client: TClient): Promise<unknown>;
  /** Whether the connection can be kept after this error, because the database has sent it. */
  isAnswer(error: unknown): boolean;
  on(client: TClient, event: "error", listener: () => void): void;
  removeListener(client: TClient, event: "error", listener: () => void): void;
}

/**
 * Lends a connection, and listens to it until `giveBack`. One that comes after `ms` goes back to the
 * pool.
 *
 * @param maxWait what the caller has asked for, ms
 */
export function lend<TClient>(
  pool: PoolAccess<TClient>,
  ms = Infinity,
  maxWait = ms,
): Promise<TClient> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      reject(new Error(`no connection was free within ${maxWait} ms`));
    };
    const timer = ms === Infinity ? undefined : startTimer(giveUp, ms);
    pool.connect((error, client) => {
      timer?.stop();
      if (client === undefined) reject(asError(error));
      else if (isLate) pool.release(client);
      else {
        pool.on(client, "error", ignore);
        resolve(client);
      }
    });
  });
}

/** @param error destroys the connection instead of giving it back. */
export function giveBack<TClient>(pool: PoolAccess<TClient>, client: TClient, error?: Error): void {
  pool.release(client, error);
  forget(pool, client);
}

/** Ends the listening to a connection that was released. */
export function forget<TClient>(pool: PoolAccess<TClient>, client: TClient): void {
  pool.removeListener(client, "error", ignore);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * A connection that breaks rejects its query and also emits an error event. The pool does not
 * listen to the events of a borrowed connection, and an error event without a listener ends the
 * process.
 */
function ignore(): void {}
