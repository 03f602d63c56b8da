import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  mysqlStore,
  pgStore,
  type RateLimitStore,
  RateLimitStoreError,
} from "../../server/index.js";
import { createMysql, createPostgres, mysqlUrl, type TestDatabase } from "../support/database.js";
import { connectMariadb, connectMysql2 } from "../support/open-mysql.js";
import { connectPool, openStore, type StoreKind } from "../support/open-store.js";
import { startSilentProxy } from "../support/silent-proxy.js";

const limits = { few: { kind: "fixed window", rate: 1000, period: DAY, start: 0 } } as const;
const CONNECTIONS = 10;

/** MySQL is left out without TEST_MYSQL_URL, as `test/server/store/sql/mysql/mysql.test.ts` reports. */
const kinds = (["pg", "mysql2", "mariadb"] as const).filter(
  (kind) => kind === "pg" || mysqlUrl !== undefined,
);

const create = (kind: StoreKind): Promise<TestDatabase> =>
  kind === "mysql2" || kind === "mariadb" ? createMysql() : createPostgres();

interface TestPool {
  store: RateLimitStore;
  /** Keeps a connection for a moment, so that others are opened. */
  sleep(): Promise<unknown>;
  end(): Promise<void>;
}

const pools: Record<(typeof kinds)[number], (url: string) => TestPool> = {
  pg(url) {
    const pool = connectPool(url, CONNECTIONS);
    pool.options.idleTimeoutMillis = 0;
    return {
      store: pgStore(pool) as RateLimitStore,
      sleep: () => pool.query("SELECT pg_sleep(0.05)"),
      end: () => pool.end(),
    };
  },
  mysql2(url) {
    const pool = connectMysql2(url, { connectionLimit: CONNECTIONS, idleTimeout: 3_600_000 });
    return {
      store: mysqlStore(pool) as RateLimitStore,
      sleep: () => pool.query("SELECT SLEEP(0.05)"),
      // Reports connections that are already closed.
      end: () => pool.end().catch(() => {}),
    };
  },
  mariadb(url) {
    const pool = connectMariadb(url, { connectionLimit: CONNECTIONS, idleTimeout: 0 });
    return {
      store: mysqlStore(pool) as RateLimitStore,
      sleep: () => pool.query("SELECT SLEEP(0.05)"),
      end: () => pool.end(),
    };
  },
};

describe("connections that die without a word", () => {
  it.each(kinds)(
    "are replaced by the store through %s, until a call is answered",
    async (kind) => {
      await using database = await create(kind);
      const proxy = await startSilentProxy(database.url);
      const { store, sleep, end } = pools[kind](proxy.url);
      const limiter = createRateLimiter({ store, limits, timeout: 500 });
      await Promise.all(Array.from({ length: CONNECTIONS }, sleep));
      await limiter.limit("few");
      proxy.silence();
      const startedAt = performance.now();
      const keys = ["a", "b", "c", "d"];
      const answered = await Promise.all(
        keys.map(async (key) => {
          while (performance.now() - startedAt < 25_000) {
            const { ok } = await limiter.limit("few", { key }).catch(() => ({ ok: false }));
            if (ok) return performance.now() - startedAt;
            await setTimeout(20);
          }
          return Infinity;
        }),
      );
      for (const after of answered) expect(after).toBeLessThan(20_000);
      // A pool of mysql2 waits for its silent connections until they are closed.
      await proxy[Symbol.asyncDispose]();
      await end();
    },
    40_000,
  );

  it.each([...kinds, "postgresql"] as const)("fail a transaction in time (%s)", async (kind) => {
    await using database = await create(kind);
    const proxy = await startSilentProxy(database.url);
    const { store, close } = openStore(kind, proxy.url, { connections: 2 });
    const limiter = createRateLimiter({ store, limits });
    const options = { maxWait: 200, timeout: 500 };
    await limiter.transaction(({ limit }) => limit("few"), options);
    proxy.silence();
    const startedAt = performance.now();
    const error: unknown = await limiter
      .transaction(({ limit }) => limit("few"), options)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RateLimitStoreError);
    expect(performance.now() - startedAt).toBeLessThan(3000);
    await proxy[Symbol.asyncDispose]();
    await close();
  });
});
