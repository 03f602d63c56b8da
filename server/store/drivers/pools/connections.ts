/**
 * Borrows connections of a pool, and destroys those that no longer answer, so that the pool opens
 * others. After a failover without a word to its clients, connections stay open for ever.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isOutsideOfRequests } from "../../../runtime/requests-own-io.js";
import { startTimer, type Timer } from "../../../timers/timer.js";
import { UnsentError } from "../../row-access.js";

/**
 * A connection whose statement has no answer after this time, ms, is destroyed. The statement may
 * also wait for a lock. Then it stays behind on the server, so the time doubles up to the longest.
 */
const SILENT_AFTER = 5000;
const LONGEST = 300_000;
/** How long after the last destroyed connection the time is the first one again, ms. */
const FORGET_AFTER = 600_000;
/** How long a connection may take to answer a probe, ms. */
const PROBE_TIMEOUT = 1000;

const NO_SHARED_POOL =
  "a store at the top of a module cannot use a pool on Cloudflare Workers, where a connection " +
  "belongs to the request that has opened it, and other requests would hang; connect a client, and " +
  "make the store and the limiter on it, inside the handler of each request";

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

export interface Connections<TClient> {
  /** Borrows a connection. One that comes after `maxWait` ms goes back to the pool. */
  borrow(maxWait?: number): Promise<TClient>;
  /** See `SqlDriver.isExhausted`. */
  isExhausted(): boolean;
  /** Ends the listening that `borrow` has begun. Call it after the release. */
  forget(client: TClient): void;
  /**
   * Runs a statement on any connection. Unlike a pool's own `query`, it keeps the connection after
   * an error of the statement. It rejects when the connection is silent, even if `run` does not.
   *
   * Measured and rejected, CPU time of a lone call on `pg`:
   * - no promise for the borrowing (0 %);
   * - keeping the connection until the next turn of the event loop, for a caller that calls again
   *   (2 to 4 %). A query of the application after the call would open another connection.
   */
  runAlone<TResult>(
    run: (client: TClient) => Promise<TResult>,
    isWanted?: () => boolean,
  ): Promise<TResult>;
}

/** A statement that is in flight outside of a transaction. */
interface Statement<TClient> {
  client: TClient;
  /** By the monotonic clock. */
  sentAt: number;
  /** How long it may take, ms. */
  patience: number;
  reject(error: Error): void;
}

/** @throws RateLimitConfigError at the top of a module on Cloudflare Workers. */
export function createConnections<TClient extends object>(
  pool: PoolAccess<TClient>,
): Connections<TClient> {
  if (isOutsideOfRequests()) {
    throw new RateLimitConfigError("store", "a pool", { message: NO_SHARED_POOL });
  }
  const answeredAt = new WeakMap<TClient, number>();
  let silentAfter = SILENT_AFTER;
  let destroyedAt = -Infinity;
  /** When the last statement without an answer was sent. */
  let unansweredSince = -Infinity;
  const inFlight = new Set<Statement<TClient>>();
  let alarm: Timer | undefined;

  function noteSilence(sentAt: number): void {
    unansweredSince = Math.max(unansweredSince, sentAt);
    // Statements that were in flight together count once.
    if (sentAt >= destroyedAt) {
      silentAfter = Math.min(2 * patience(), LONGEST);
      for (let i = pool.idleCount(); i > 0; i--) lend().then(probeIdle, ignore);
    }
    destroyedAt = performance.now();
  }

  /** One timer watches all statements, because setting one for each takes 6 % of a lone call. */
  function watch(client: TClient, reject: (error: Error) => void): Statement<TClient> {
    const statement = { client, sentAt: performance.now(), patience: patience(), reject };
    inFlight.add(statement);
    alarm ??= wake(statement.patience);
    return statement;
  }

  function wake(ms: number): Timer {
    // The patience of a later statement may be shorter again.
    const next = startTimer(destroySilent, Math.min(ms, SILENT_AFTER));
    next.unref();
    return next;
  }

  function destroySilent(): void {
    const now = performance.now();
    let wait = Infinity;
    for (const statement of inFlight) {
      const { client, sentAt, patience: ms, reject } = statement;
      // Timers may fire a little early.
      if (sentAt + ms > now + 1) {
        wait = Math.min(wait, sentAt + ms - now);
        continue;
      }
      inFlight.delete(statement);
      noteSilence(sentAt);
      const error = Object.assign(new Error(`the database did not answer within ${ms} ms`), {
        code: "RATE_LIMIT_NO_ANSWER",
      });
      pool.release(client, error);
      // Not every client rejects the statements of a destroyed connection.
      reject(error);
    }
    alarm = wait === Infinity ? undefined : wake(wait);
  }

  async function probeIdle(client: TClient): Promise<void> {
    if (!(await probe(client))) return;
    forget(client);
    pool.release(client);
  }

  function patience(): number {
    return performance.now() - destroyedAt > FORGET_AFTER ? SILENT_AFTER : silentAfter;
  }

  /** Whether a connection answers. A silent one is destroyed. */
  function probe(client: TClient): Promise<boolean> {
    return new Promise((resolve) => {
      let isDestroyed = false;
      const destroy = (error: unknown) => {
        timer.stop();
        // Destroying it also makes its query fail.
        if (isDestroyed) return;
        isDestroyed = true;
        pool.release(client, asError(error));
        forget(client);
        resolve(false);
      };
      const timer = startTimer(
        () => destroy(new Error(`the connection did not answer within ${PROBE_TIMEOUT} ms`)),
        PROBE_TIMEOUT,
      );
      pool.probe(client).then(() => {
        timer.stop();
        if (isDestroyed) return;
        answeredAt.set(client, performance.now());
        resolve(true);
      }, destroy);
    });
  }

  async function borrow(maxWait: number = Infinity): Promise<TClient> {
    const until = performance.now() + maxWait;
    for (;;) {
      const client = await lend(until - performance.now(), maxWait);
      // After a silence, probe the connections that have not answered since.
      if (unansweredSince === -Infinity) return client;
      if ((answeredAt.get(client) ?? -Infinity) > unansweredSince) return client;
      if (await probe(client)) return client;
    }
  }

  function lend(ms = Infinity, maxWait = ms): Promise<TClient> {
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

  function forget(client: TClient): void {
    pool.removeListener(client, "error", ignore);
  }

  return {
    borrow,
    forget,
    isExhausted: pool.isExhausted,
    async runAlone(run, isWanted) {
      const client = await (unansweredSince === -Infinity ? lend() : borrow());
      if (isWanted !== undefined && !isWanted()) {
        forget(client);
        pool.release(client);
        throw new UnsentError();
      }
      return new Promise((resolve, reject) => {
        const statement = watch(client, reject);
        const giveBack = (error?: Error) => {
          forget(client);
          // A connection that was destroyed is no longer in flight, and released already.
          if (inFlight.delete(statement)) pool.release(client, error);
        };
        run(client).then(
          (result) => {
            if (unansweredSince !== -Infinity) answeredAt.set(client, performance.now());
            giveBack();
            resolve(result);
          },
          (error: unknown) => {
            giveBack(pool.isAnswer(error) ? undefined : asError(error));
            reject(error);
          },
        );
      });
    },
  };
}

/**
 * A connection that breaks rejects its query and also emits an error event. The pool does not
 * listen to the events of a borrowed connection, and an error event without a listener ends the
 * process.
 */
function ignore(): void {}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
