/**
 * Borrows connections of a pool, for a transaction or for one statement. A connection that has gone
 * silent is not lent.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isOutsideOfRequests } from "../../../runtime/requests-own-io.js";
import { UnsentError } from "../../row-access.js";
import { asError, forget, giveBack, lend, lendTo, type PoolAccess } from "./lending.js";
import { SilentConnections } from "./silent-connections.js";

const NO_SHARED_POOL =
  "a store at the top of a module cannot use a pool on Cloudflare Workers, where a connection " +
  "belongs to the request that has opened it, and other requests would hang; connect a client, and " +
  "make the store and the limiter on it, inside the handler of each request";

export class Connections<TClient extends object> {
  readonly #pool: PoolAccess<TClient>;
  readonly #silent: SilentConnections<TClient>;

  /** @throws RateLimitConfigError at the top of a module on Cloudflare Workers. */
  constructor(pool: PoolAccess<TClient>) {
    if (isOutsideOfRequests()) {
      throw new RateLimitConfigError("store", "a pool", { message: NO_SHARED_POOL });
    }
    this.#pool = pool;
    this.#silent = new SilentConnections(pool);
  }

  /** See `SqlDriver.isExhausted`. */
  isExhausted(): boolean {
    return this.#pool.isExhausted();
  }

  /** Borrows a connection. A connection that comes after `maxWait` ms goes back to the pool. */
  async borrow(maxWait: number = Infinity): Promise<TClient> {
    const until = performance.now() + maxWait;
    for (;;) {
      const client = await lend(this.#pool, until - performance.now(), maxWait);
      if (!this.#silent.isInDoubt(client)) return client;
      if (await this.#silent.probe(client)) return client;
    }
  }

  /** @param error destroys the connection instead of giving it back. */
  giveBack(client: TClient, error?: Error): void {
    giveBack(this.#pool, client, error);
  }

  /** Ends the listening that `borrow` has begun, after the caller has released the connection itself. */
  forget(client: TClient): void {
    forget(client);
  }

  /**
   * Runs a statement on any connection. Unlike a pool's own `query`, `runAlone` keeps the connection
   * after an error of the statement. `runAlone` rejects when the connection is silent, even if `send`
   * is not done.
   *
   * Until the answer is there, callbacks stand in the place of promises. The callbacks save 1 of 10 µs
   * of a lone call on `pg`. Measured and rejected: keeping the connection until the next turn of the
   * event loop, for a caller that calls again (2 to 4 %). A query of the application after the call
   * would open another connection.
   *
   * @param pick what of the answer is wanted.
   */
  runAlone<TAnswer, TResult>(
    send: (client: TClient, done: Done<TAnswer>) => void,
    pick: (answer: TAnswer) => TResult,
    isWanted?: () => boolean,
  ): Promise<TResult> {
    return new Promise((resolve, reject) => {
      const run = (client: TClient) => {
        if (isWanted !== undefined && !isWanted()) {
          giveBack(this.#pool, client);
          return reject(new UnsentError());
        }
        const statement = this.#silent.watch(client, reject);
        const done: Done<TAnswer> = (error, answer) => {
          const hasFailed = (error ?? undefined) !== undefined;
          if (this.#silent.endWatch(statement, !hasFailed)) {
            const isKept = !hasFailed || this.#pool.isAnswer(error);
            giveBack(this.#pool, client, isKept ? undefined : asError(error));
          }
          if (hasFailed) return reject(error);
          try {
            resolve(pick(answer as TAnswer));
          } catch (notPicked) {
            // The client has answered in an unknown form. Reject, because no code catches what a
            // callback throws.
            reject(notPicked);
          }
        };
        try {
          send(client, done);
        } catch (error) {
          done(error);
        }
      };
      if (this.#silent.haveBeen) this.borrow().then(run, reject);
      else lendTo(this.#pool, run, reject);
    });
  }
}

/** Called once with the answer, or with an error. Later calls do nothing. */
export type Done<TAnswer> = (error: unknown, answer?: TAnswer) => void;

/** For a client that answers by promises. */
export function byPromise<TClient, TAnswer>(
  run: (client: TClient) => PromiseLike<TAnswer>,
): (client: TClient, done: Done<TAnswer>) => void {
  return (client, done) => void run(client).then((answer) => done(undefined, answer), done);
}
