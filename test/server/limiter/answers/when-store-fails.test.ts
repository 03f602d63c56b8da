/** `whenStoreFails`: the limits that let calls through while a real database is away. */
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  type DecisionEvent,
  type LimitAllResult,
  MINUTE,
  pgStore,
  RateLimitError,
  type RateLimiter,
  type RateLimitResult,
  RateLimitStoreError,
} from "../../../../server/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { lendConnections } from "../../../support/lend-connections.js";
import {
  connectPool,
  type OpenedStore,
  openStore,
  type StoreKind,
} from "../../../support/open-store.js";
import { type PostgresServer, startPostgres } from "../../../support/postgres-server.js";
import { type SilentProxy, startSilentProxy } from "../../../support/silent-proxy.js";

const few = { kind: "token bucket", rate: 2, period: MINUTE } as const;
const limits = {
  open: { ...few, whenStoreFails: "allow" },
  quiet: { ...few, whenStoreFails: "allow", shadow: true },
  closed: { ...few, whenStoreFails: "fail" },
  plain: few,
} as const;

const kinds: StoreKind[] = ["postgresql", "pg"];
if (mysqlUrl !== undefined) kinds.push("mysql");

describe.each(kinds)("a database that is away (%s)", (kind) => {
  let server: PostgresServer | undefined;
  let proxy: SilentProxy | undefined;
  let limiter: RateLimiter<typeof limits>;
  let opened: OpenedStore;
  let close: () => Promise<void>;
  const events: DecisionEvent[] = [];

  beforeAll(async () => {
    let url: string;
    if (kind === "mysql") {
      const database = await createMysql();
      proxy = await startSilentProxy(database.url);
      ({ url } = proxy);
    } else {
      server = await startPostgres();
      ({ url } = await createPostgres(server.url));
    }
    opened = openStore(kind, url);
    ({ close } = opened);
    const { store } = opened;
    const onDecision = (event: DecisionEvent) => void events.push(event);
    // Opens a connection, which may take long beside other tests.
    await createRateLimiter({ store, limits, timeout: 30_000, logger: false }).check("plain");
    limiter = createRateLimiter({ store, limits, timeout: 1000, logger: false, onDecision });
    await limiter.limit("open", { count: 2 });
    // MariaDB serves other tests, so only the way to it is cut.
    await server?.kill();
    await proxy?.[Symbol.asyncDispose]();
  }, 60_000);

  afterAll(async () => {
    await close().catch(() => {});
    await server?.stop();
  });

  const passed = { ok: true, value: 0, ts: expect.any(Number) as number, storeFailed: true };

  it("lets the calls of a limit with `allow` through, and fails those of the others", async () => {
    for (const name of ["open", "quiet"] as const) {
      expect(await limiter.limit(name, { key: "ada" })).toEqual(passed);
      expect(await limiter.check(name, { key: "ada", throws: true })).toEqual(passed);
    }
    expect(await limiter.acquire("open")).toEqual(passed);
    for (const name of ["closed", "plain"] as const) {
      await expect(limiter.limit(name)).rejects.toThrow(RateLimitStoreError);
      await expect(limiter.check(name)).rejects.toThrow(RateLimitStoreError);
    }
  });

  it("tells onDecision, and no listener of changes", async () => {
    events.length = 0;
    let changes = 0;
    onTestFinished(limiter.onChange(() => changes++));
    await limiter.limit("open", { key: "bob", count: 2 });
    expect(events).toEqual([
      { action: "limit", name: "open", key: "bob", count: 2, result: passed, capacity: 2 },
    ]);
    expect(changes).toBe(0);
  });

  it("lets a limitAll through only if all of its limits allow it", async () => {
    const both = await limiter.limitAll([{ name: "open" }, { name: "quiet" }]);
    expect(both).toEqual({ ok: true, results: [passed, passed] });
    const one = limiter.limitAll([{ name: "open" }, { name: "closed" }]);
    await expect(one).rejects.toThrow(RateLimitStoreError);
  });

  it("applies to per-call configs of the limit, and to a limit that a config alone describes", async () => {
    const config = { ...few, rate: 9 };
    expect(await limiter.limit("open", { config })).toEqual(passed);
    const own = { ...config, whenStoreFails: "fail" as const };
    await expect(limiter.limit("open", { config: own })).rejects.toThrow(RateLimitStoreError);
    const other = { ...few, whenStoreFails: "allow" as const };
    expect(await limiter.limit("unnamed", { config: other })).toEqual(passed);
    await expect(limiter.limit("unnamed", { config: few })).rejects.toThrow(RateLimitStoreError);
  });

  it("applies to all limits of a limiter that says it, except those that say it themselves", async () => {
    const { store } = opened;
    const options = { store, timeout: 1000, logger: false, plans: ["free"] } as const;
    const planned = { kind: "token bucket", period: MINUTE, plans: { free: { rate: 2 } } } as const;
    const all = { ...limits, planned };
    const open = createRateLimiter({ ...options, limits: all, whenStoreFails: "allow" });
    const calls = [
      open.limit("plain"),
      open.check("plain"),
      open.limit("unnamed", { config: few }),
      open.limit("planned", { plan: "free" }),
    ];
    for (const call of calls) expect(await call).toEqual(passed);
    await expect(open.limit("closed")).rejects.toThrow(RateLimitStoreError);
    const closed = createRateLimiter({ ...options, limits: all, whenStoreFails: "fail" });
    await expect(closed.limit("plain")).rejects.toThrow(RateLimitStoreError);
    expect(await closed.limit("open")).toEqual(passed);
  });

  it("is for limit, check and limitAll only: all else says that the store fails", async () => {
    const result = await limiter.limit("open");
    const calls = [
      limiter.charge("open"),
      limiter.settle(result, 3),
      limiter.refund("open", { result }),
      limiter.reset("open"),
      limiter.getValue("open"),
      limiter.snapshots([{ name: "open" }]),
      limiter.transaction(({ limit }) => limit("open"), { maxWait: 300, timeout: 300 }),
    ];
    const settled = await Promise.allSettled(calls);
    for (const each of settled) {
      expect(each).toMatchObject({ status: "rejected", reason: { kind: "StoreFailure" } });
    }
    // It took nothing, so there is nothing to give back.
    await limiter.settle(result, 0);
  });
});

/** With a pool of its own, a store knows when the application holds all of its connections. */
const pools: StoreKind[] = ["pg"];
if (mysqlUrl !== undefined) pools.push("mysql2", "mariadb");
const create = (kind: StoreKind) => {
  return pools.indexOf(kind) > 0 || kind === "mysql" ? createMysql() : createPostgres();
};

describe.each([...new Set([...kinds, ...pools])])("a database that is busy (%s)", (kind) => {
  const TIMEOUT = 1500;

  async function open(url: string, connections: number, timeout = TIMEOUT) {
    const opened = openStore(kind, url, { connections });
    // A pool of mysql2 reports connections that are already closed.
    onTestFinished(() => opened.close().catch(() => {}));
    const { store, run } = opened;
    const limiter = createRateLimiter({ store, limits, timeout, logger: false });
    return { limiter, run };
  }

  /** How many of these calls passed, were denied, and failed. */
  async function outcomesOf(calls: Promise<RateLimitResult | LimitAllResult>[]) {
    const counts = { opened: 0, granted: 0, denied: 0, failed: 0 };
    for (const each of await Promise.allSettled(calls)) {
      if (each.status === "rejected") {
        expect(each.reason).toBeInstanceOf(RateLimitStoreError);
        counts.failed++;
        continue;
      }
      const { ok } = each.value;
      const hasFailed = JSON.stringify(each.value).includes("storeFailed");
      counts[hasFailed ? "opened" : ok ? "granted" : "denied"]++;
    }
    return counts;
  }

  it("opens no limit for a caller whose own row a transaction holds", async () => {
    await using database = await create(kind);
    const { limiter } = await open(database.url, 8);
    const keys = ["held", "other 0", "other 1"];
    for (const key of keys) await limiter.limit("open", { key });
    const holder = await open(database.url, 2);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const holding = new Promise<void>((resolve, reject) => {
      const slow = holder.limiter.transaction(
        async ({ limit }) => {
          await limit("open", { key: "held" });
          resolve();
          await released;
        },
        { timeout: 20_000 },
      );
      slow.catch(reject);
    });
    await holding;
    try {
      for (const other of keys.slice(1)) {
        const calls = Array.from({ length: 20 }, () => limiter.limit("open", { key: "held" }));
        const all = limiter.limitAll([{ name: "open", key: "held" }, { name: "quiet" }]);
        calls.push(limiter.limit("open", { key: other }));
        const outcomes = await outcomesOf([...calls, all]);
        expect(outcomes).toMatchObject({ opened: 0 });
        expect(outcomes.failed).toBeGreaterThanOrEqual(21);
      }
    } finally {
      release();
    }
  });

  if (pools.includes(kind)) {
    it("opens no limit while the application holds all connections", async () => {
      await using database = await create(kind);
      const { limiter, run } = await open(database.url, 2);
      await limiter.limit("open", { key: "ada" });
      const free = await lendConnections(database, run, 2);
      const keys = ["ada", "bob", "ada"];
      for (let round = 0; round < 2; round++) {
        const calls = keys.map((key) => limiter.limit("open", { key }));
        expect(await outcomesOf(calls)).toMatchObject({ opened: 0, failed: 3 });
        for (const call of calls) {
          await expect(call).rejects.toThrow(
            / ms; all connections of the pool are lent: hold them/,
          );
        }
      }
      await free();
    });
  } else {
    it("says that the application may hold all connections, where its client does not tell", async () => {
      await using database = await create(kind);
      const { limiter, run } = await open(database.url, 2);
      await limiter.limit("closed");
      const free = await lendConnections(database, run, 2);
      for (let round = 0; round < 2; round++) {
        await expect(limiter.limit("closed")).rejects.toThrow(
          round === 0
            ? "did not answer"
            : / ms; the database is silent, or the application holds all/,
        );
      }
      await free();
    });
  }

  it("opens no limit because its own process was busy", async () => {
    await using database = await create(kind);
    const { limiter } = await open(database.url, 4);
    await limiter.limit("open", { key: "ada" });
    for (let round = 0; round < 2; round++) {
      const calls = Array.from({ length: 5 }, (_, i) => limiter.limit("open", { key: `${i}` }));
      await setImmediate();
      const until = performance.now() + TIMEOUT + 100;
      while (performance.now() < until);
      expect(await outcomesOf(calls)).toMatchObject({ opened: 0 });
    }
  });

  it("opens limits when the network falls silent, from the first call on", async () => {
    await using database = await create(kind);
    const proxy = await startSilentProxy(database.url);
    // It asks more than once before it believes in silence, which takes long in a process that is busy.
    const { limiter } = await open(proxy.url, 6, 2 * TIMEOUT);
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    await limiter.limit("open", { key: "ada" });
    proxy.silenceAll();
    for (let round = 0; round < 2; round++) {
      const calls = ["ada", `bob ${round}`].map((key) => limiter.limit("open", { key }));
      const all = limiter.limitAll([{ name: "open" }, { name: "quiet" }]);
      calls.push(limiter.limit("closed"));
      expect(await outcomesOf([...calls, all])).toMatchObject({ opened: 3, failed: 1 });
    }
  });
});

describe("a limit that lets calls through when the store fails", () => {
  it("fails a call whose statement the database has cancelled, and one for want of a connection", async () => {
    await using database = await createPostgres();
    const name = new URL(database.url).pathname.slice(1);
    const pool = connectPool(database.url, 1);
    pool.options.connectionTimeoutMillis = 200;
    onTestFinished(() => pool.end());
    await pool.query(`ALTER DATABASE ${name} SET statement_timeout = 200`);
    const limiter = createRateLimiter({ store: pgStore(pool), limits, logger: false });
    await limiter.limit("open");
    const error = { name: "RateLimitStoreError", isOutage: false };
    const holder = await pool.connect();
    await expect(limiter.limit("open")).rejects.toMatchObject(error);
    holder.release(true);

    const other = connectPool(database.url, 1);
    onTestFinished(() => other.end());
    const held = await other.connect();
    await held.query(`BEGIN; SELECT 1 FROM "RateLimit" FOR UPDATE`);
    await expect(limiter.limit("open")).rejects.toMatchObject(error);
    held.release(true);
    await database.prisma.$executeRawUnsafe(`DROP TABLE "RateLimit"`);
    await expect(limiter.limit("open")).rejects.toMatchObject(error);
  });

  it("lets none through without its table, and the log says what is missing", async () => {
    await using database = await createPostgres();
    await database.prisma.$executeRawUnsafe(`DROP TABLE "RateLimit"`);
    const { store, close } = openStore("pg", database.url);
    onTestFinished(close);
    const said: string[] = [];
    const logger = { error: (message: string) => void said.push(message), warn() {} };
    const limiter = createRateLimiter({ store, limits, logger });
    const error = { name: "RateLimitStoreError", isOutage: false };
    for (let i = 0; i < 3; i++) await expect(limiter.limit("open")).rejects.toMatchObject(error);
    expect(said).toEqual([expect.stringContaining(`table "RateLimit" does not exist`)]);
  });

  it("fails inside the caller's transaction, which the failure has ended", async () => {
    await using database = await createPostgres();
    const { store, close } = openStore("postgresql", database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits, logger: false });
    const run = database.prisma.$transaction(async (tx) => {
      await tx.$executeRawUnsafe("SELECT 1 / 0").catch(() => {});
      return limiter.using(tx as never).limit("open");
    });
    await expect(run).rejects.toThrow(RateLimitStoreError);
  });

  it("decides as any other while the store answers, and tells no client of the policy", async () => {
    await using database = await createSqlite();
    const { store, close } = openStore("sqlite", database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits });
    await limiter.limit("open", { count: 2 });
    const denied: unknown = await limiter.limit("open", { throws: true }).catch((e: unknown) => e);
    expect(denied).toBeInstanceOf(RateLimitError);
    const [snapshot] = await limiter.snapshots([{ name: "open" }]);
    const { config } = await limiter.getValue("open");
    const shown = [(denied as RateLimitError).data, snapshot, config];
    expect(JSON.stringify(shown)).not.toContain("whenStoreFails");
    const all: unknown = await limiter
      .limitAll([{ name: "open" }], { throws: true })
      .catch((e: unknown) => e);
    expect(all).toBeInstanceOf(RateLimitError);
    expect(JSON.stringify((all as RateLimitError).data)).not.toContain("whenStoreFails");
  });
});
