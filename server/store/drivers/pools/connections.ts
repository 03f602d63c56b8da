/**
 * Borrows connections of a pool, for a transaction or for one statement. It lends none that has gone
 * silent.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isOutsideOfRequests } from "../../../runtime/requests-own-io.js";
import { UnsentError } from "../../row-access.js";
import { asError, forget, giveBack, lend, type PoolAccess } from "./lending.js";
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

  /** Borrows a connection. One that comes after `maxWait` ms goes back to the pool. */
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

  /** Ends the listening that `borrow` has begun, for who has released the connection. */
  forget(client: TClient): void {
    forget(client);
  }

  /**
   * Runs a statement on any connection. Unlike a pool's own `query`, it keeps the connection after
   * an error of the statement. It rejects when the connection is silent, even if `run` does not.
   *
   * Measured and rejected, CPU time of a lone call on `pg`:
   * - no promise for the borrowing (0 %);
   * - keeping the connection until the next turn of the event loop, for a caller that calls again
   *   (2 to 4 %). A query of the application after the call would open another connection.
   */
  async runAlone<TResult>(
    run: (client: TClient) => Promise<TResult>,
    isWanted?: () => boolean,
  ): Promise<TResult> {
    const client = await (this.#silent.haveBeen ? this.borrow() : lend(this.#pool));
    if (isWanted !== undefined && !isWanted()) {
      giveBack(this.#pool, client);
      throw new UnsentError();
    }
    // Awaited, because a promise that is returned as it is costs one more.
    return await new Promise((resolve, reject) => {
      const statement = this.#silent.watch(client, reject);
      run(client).then(
        (result) => {
          if (this.#silent.endWatch(statement, true)) giveBack(this.#pool, client);
          resolve(result);
        },
        (error: unknown) => {
          const isKept = this.#pool.isAnswer(error);
          if (this.#silent.endWatch(statement, false)) {
            giveBack(this.#pool, client, isKept ? undefined : asError(error));
          }
          reject(error);
        },
      );
    });
  }
}
