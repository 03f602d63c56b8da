/**
 * The stores behind PgBouncer in transaction mode, where each transaction may get another connection
 * to the server. Debian's PgBouncer 1.18 knows no prepared statements.
 */
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import {
  createRateLimiter,
  MINUTE,
  pgStore,
  postgresChannel,
  prismaStore,
  type RateLimitStore,
} from "../../server/index.js";
import { PrismaClient } from "../../prisma/generated/postgresql/client.js";
import { connectPostgres } from "../support/clients.js";
import { createPostgres } from "../support/database.js";
import { type KeptDatabase, keptPostgres } from "../support/kept-databases.js";
import { connectPool } from "../support/open-store.js";
import { type Pgbouncer, pgbouncerVersion, startPgbouncer } from "../support/pgbouncer.js";
import { describeStore } from "../server/store/contract.js";

const version = pgbouncerVersion();
const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

describe.runIf(version === undefined)("PgBouncer", () => {
  it("carries the stores", ({ skip }) => skip("pgbouncer is not installed"));
});

describe.skipIf(version === undefined)(`behind ${version} in transaction mode`, () => {
  let bouncer: Pgbouncer;
  beforeAll(async () => {
    bouncer = await startPgbouncer(inject("postgresUrl"));
  });
  afterAll(() => bouncer[Symbol.asyncDispose]());

  async function open(
    isolation?: "serializable",
    create: () => Promise<KeptDatabase> = createPostgres,
  ) {
    const database = await create();
    const url = bouncer.urlOf(new URL(database.url).pathname.slice(1));
    const pools: pg.Pool[] = [];
    const clients: ReturnType<typeof connectPostgres>[] = [];
    const close = async () => {
      await Promise.all([
        ...pools.map((pool) => pool.end()),
        ...clients.map((client) => client.$disconnect()),
      ]);
      await database[Symbol.asyncDispose]();
    };
    return {
      url,
      close,
      pgStore(prepare: boolean) {
        const pool = connectPool(url, 8);
        pools.push(pool);
        return pgStore(pool, { prepare, isolation }) as RateLimitStore;
      },
      prismaStore() {
        const client = connectPostgres(url, 8);
        clients.push(client);
        return prismaStore(client, { isolation }) as RateLimitStore;
      },
      /** Its single decisions go through the pool. */
      prismaPoolStore() {
        const pool = connectPool(url, 8);
        pools.push(pool);
        const client = new PrismaClient({ adapter: new PrismaPg(pool) });
        clients.push(client);
        return prismaStore(client, { isolation }) as RateLimitStore;
      },
    };
  }

  for (const isolation of [undefined, "serializable"] as const) {
    const way = isolation ?? "guarded";
    describeStore(`pgStore without prepared statements, ${way},`, async () => {
      const opened = await open(isolation, keptPostgres);
      return { ...opened, store: opened.pgStore(false), peer: opened.pgStore(false) };
    });
    describeStore(`prismaStore, ${way},`, async () => {
      const opened = await open(isolation, keptPostgres);
      return { ...opened, store: opened.prismaStore(), peer: opened.prismaStore() };
    });
    describeStore(`prismaStore with the pool of its adapter, ${way},`, async () => {
      const opened = await open(isolation, keptPostgres);
      return { ...opened, store: opened.prismaPoolStore(), peer: opened.prismaPoolStore() };
    });
  }

  it("a transaction of the limiter keeps its connection", async () => {
    const opened = await open();
    onTestFinished(opened.close);
    const stores = [opened.pgStore(false), opened.prismaStore(), opened.prismaPoolStore()];
    for (const [i, store] of stores.entries()) {
      const limiter = createRateLimiter({ store, limits, timeout: 20_000 });
      const key = `${i}`;
      const all = Array.from({ length: 8 }, () =>
        limiter.transaction(({ limit }) => limit("few", { key, count: 2 }), { retryFor: 20_000 }),
      );
      expect((await Promise.all(all)).filter(({ ok }) => ok)).toHaveLength(5);
    }
  });

  it("a store that prepares its statements finds out that it must not, and fails no call", async () => {
    const opened = await open();
    onTestFinished(opened.close);
    const stores = Array.from({ length: 4 }, () => opened.pgStore(true));
    for (let round = 0; round < 3; round++) {
      const calls = stores.flatMap((store, i) => {
        const limiter = createRateLimiter({ store, limits, timeout: 20_000, logger: false });
        return Array.from({ length: 20 }, (_, j) => limiter.check("few", { key: `${i} ${j % 5}` }));
      });
      expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
    }
  });

  it("a pool of Prisma's adapter prepares nothing, unless it is asked to", async () => {
    const opened = await open();
    onTestFinished(opened.close);
    const stores = Array.from({ length: 4 }, () => opened.prismaPoolStore());
    const calls = stores.flatMap((store, i) => {
      const limiter = createRateLimiter({ store, limits, timeout: 20_000 });
      return Array.from({ length: 20 }, (_, j) => limiter.limit("few", { key: `${i} ${j % 5}` }));
    });
    expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
    const server = new pg.Client({ connectionString: opened.url });
    await server.connect();
    const { rows } = await server.query("SELECT name FROM pg_prepared_statements");
    await server.end();
    expect(rows).toEqual([]);
  });

  it("a channel warns that it hears nothing", async () => {
    const opened = await open();
    const warn = vi.fn();
    const other = new pg.Client({ connectionString: opened.url });
    await other.connect();
    const connect = () => {
      const client = new pg.Client({ connectionString: opened.url });
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
      client.query = (async (...args: unknown[]) => {
        const result = await query(...args);
        // Another client gets the connection that listens, and keeps it.
        if (String(args[0]).startsWith("LISTEN")) await other.query("BEGIN");
        return result;
      }) as typeof client.query;
      return client;
    };
    const channel = postgresChannel(connect, { logger: { warn, error: vi.fn() } });
    onTestFinished(async () => {
      await other.end();
      await channel.close();
      await opened.close();
    });
    channel.subscribe(() => {});
    await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce(), { timeout: 15_000, interval: 50 });
    expect(String(warn.mock.calls[0]![0])).toContain("hears no notifications");
  });
});
