/** `pgStore` on the function of `neon()`: one request per statement, and no transactions. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimiter, DAY, type PgHttpLike, pgStore } from "../../../server/index.js";
import { describeStore } from "../../server/store/contract.js";
import { createPostgres, type TestDatabase } from "../../support/database.js";
import { connectPool } from "../../support/open-store.js";
import type { Host } from "../../support/serve-fetch.js";
import { startNeonProxy } from "./neon-proxy.js";

interface NeonModule {
  neon(url: string): PgHttpLike;
  neonConfig: { fetchEndpoint: string };
}

const project = new URL("package.json", import.meta.url);
const hasNeon = existsSync(new URL("node_modules/@neondatabase/serverless", project));
const NO_NEON = "needs @neondatabase/serverless: npm run install:test-projects";

/** Its proxy is the stand-in. */
const URL_OF_NEON = "postgresql://user:none@neon.example/limits";

describe.skipIf(!hasNeon)(`pgStore on neon() (${NO_NEON})`, () => {
  let database: TestDatabase;
  let pool: ReturnType<typeof connectPool>;
  let proxy: Host;
  let connect: () => PgHttpLike;

  beforeAll(async () => {
    database = await createPostgres();
    pool = connectPool(database.url);
    proxy = await startNeonProxy(pool as never);
    const entry = createRequire(project).resolve("@neondatabase/serverless");
    const { neon, neonConfig } = (await import(pathToFileURL(entry).href)) as NeonModule;
    neonConfig.fetchEndpoint = proxy.url;
    connect = () => neon(URL_OF_NEON);
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  describeStore("pgStore on neon()", async () => {
    await pool.query('DELETE FROM "RateLimit"');
    const [store, peer] = [1, 2].map(() => {
      // The contract skips its transactions for a store that does not offer them.
      const { transaction: _ignored, using: _unused, ...single } = pgStore(connect());
      return single;
    });
    return { store: store!, peer: peer!, close: async () => {} };
  });

  const limits = { send: { kind: "fixed window", rate: 37, period: DAY, start: 0 } } as const;
  const create = () => createRateLimiter({ store: pgStore(connect()), limits, timeout: 30_000 });

  it("grants exactly 37 of 60 calls of several limiters", async () => {
    const limiters = Array.from({ length: 4 }, create);
    const calls = Array.from({ length: 60 }, (_, i) =>
      limiters[i % 4]!.limit("send", { key: "many" }),
    );
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(37);
  });

  it("refuses transactions, in words", async () => {
    const limiter = create();
    await expect(limiter.transaction(async () => {})).rejects.toThrow(
      "transaction() needs a transaction, and this driver has none; use one that keeps a connection",
    );
    expect(() => limiter.using({} as never)).toThrow("using() needs a transaction");
    expect(() => pgStore(connect(), { isolation: "serializable" })).toThrow(
      "isolation must be left out: the driver has no transactions",
    );
  });
});
