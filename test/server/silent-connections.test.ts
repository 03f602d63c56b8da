import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createRateLimiter, DAY, pgStore, RateLimitStoreError } from "../../server/index.js";
import { createPostgres } from "../support/database.js";
import { connectPool, openStore } from "../support/open-store.js";
import { startSilentProxy } from "../support/silent-proxy.js";

const limits = { few: { kind: "fixed window", rate: 1000, period: DAY, start: 0 } } as const;
const CONNECTIONS = 10;

describe("connections that die without a word", () => {
  it("are replaced by the store through pg, until a call is answered", async () => {
    await using database = await createPostgres();
    await using proxy = await startSilentProxy(database.url);
    const pool = connectPool(proxy.url, CONNECTIONS);
    pool.options.idleTimeoutMillis = 0;
    const limiter = createRateLimiter({ store: pgStore(pool), limits, timeout: 500 });
    const warmUp = () => pool.query("SELECT pg_sleep(0.05)");
    await Promise.all(Array.from({ length: CONNECTIONS }, warmUp));
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
    await pool.end();
  }, 40_000);

  it.each(["pg", "postgresql"] as const)("fail a transaction in time (%s)", async (kind) => {
    await using database = await createPostgres();
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
