/** Stores on the pool of `@neondatabase/serverless`, which speaks PostgreSQL's protocol in WebSockets. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type DrizzleLike, drizzleStore } from "../../../server/drizzle/index.js";
import {
  createRateLimiter,
  DAY,
  type PgPoolLike,
  pgStore,
  type RateLimitStore,
} from "../../../server/index.js";
import { describeStore } from "../../server/store/contract.js";
import { createPostgres, type TestDatabase } from "../../support/database.js";
import { connectPool } from "../../support/open-store.js";
import type { Host } from "../../support/serve-fetch.js";
import { hasNeon, importOfProject, NO_NEON } from "./start-neon.js";
import { startWebSocketProxy, type WebSocketModule } from "./websocket-proxy.js";

const drizzleOrm = process.env["DRIZZLE_VERSION"] === "1" ? "drizzle-orm-1" : "drizzle-orm";
const limits = { few: { kind: "fixed window", rate: 37, period: DAY, start: 0 } } as const;

interface NeonPool extends PgPoolLike {
  on(event: "error", listener: () => void): unknown;
  end(): Promise<void>;
}

interface NeonModule {
  Pool: new (config: object) => NeonPool;
  neonConfig: object;
}

describe.skipIf(!hasNeon)(`over WebSockets (${NO_NEON}):`, () => {
  let database: TestDatabase;
  let proxy: Host;
  let admin: ReturnType<typeof connectPool>;
  let connect: () => NeonPool;
  let drizzle: (config: { client: object }) => DrizzleLike;
  const opened: NeonPool[] = [];

  beforeAll(async () => {
    database = await createPostgres();
    admin = connectPool(database.url);
    const ws = await importOfProject<WebSocketModule>("ws");
    proxy = await startWebSocketProxy(ws, database.url);
    const { Pool, neonConfig } = await importOfProject<NeonModule>("@neondatabase/serverless");
    Object.assign(neonConfig, {
      webSocketConstructor: ws.WebSocket,
      wsProxy: () => new URL(proxy.url).host,
      // The local proxy has no TLS, and takes no password in advance.
      useSecureWebSocket: false,
      pipelineConnect: false,
    });
    connect = () => {
      const pool = new Pool({ connectionString: database.url, ssl: false });
      pool.on("error", () => {});
      opened.push(pool);
      return pool;
    };
    const driver = `${drizzleOrm}/neon-serverless`;
    ({ drizzle } = await importOfProject<{ drizzle: typeof drizzle }>(driver));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((pool) => pool.end()));
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await admin.end();
    await database[Symbol.asyncDispose]();
  });

  const isolations = [undefined, "serializable"] as const;
  const stores: Record<string, (isolation: (typeof isolations)[number]) => RateLimitStore> = {
    "pgStore on Pool": (isolation) => pgStore(connect(), { isolation }) as RateLimitStore,
    [`drizzleStore on ${drizzleOrm}/neon-serverless`]: (isolation) =>
      drizzleStore(drizzle({ client: connect() }), { isolation }) as RateLimitStore,
  };
  for (const [name, open] of Object.entries(stores)) {
    for (const isolation of isolations) {
      const title = `${name}, ${isolation ?? "guarded"},`;
      describeStore(title, async () => {
        await admin.query('DELETE FROM "RateLimit"');
        return { store: open(isolation), peer: open(isolation), close: async () => {} };
      });

      it(`${title} grants exactly 37 of 200 calls of five limiters`, async () => {
        await admin.query('DELETE FROM "RateLimit"');
        const limiters = Array.from({ length: 5 }, () =>
          createRateLimiter({ store: open(isolation), limits, timeout: 60_000 }),
        );
        const calls = Array.from({ length: 200 }, (_, i) =>
          limiters[i % 5]!.limit("few", { key: "many" }),
        );
        expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(37);
      });
    }
  }
});
