/** `whenStoreFails`: the limits that let calls through while a real database is away. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  type DecisionEvent,
  MINUTE,
  RateLimitConfigError,
  RateLimitError,
  type RateLimiter,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../server/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";
import { openStore, type StoreKind } from "../support/open-store.js";
import { type PostgresServer, startPostgres } from "../support/postgres-server.js";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.js";

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
    const opened = openStore(kind, url);
    ({ close } = opened);
    const { store } = opened;
    const onDecision = (event: DecisionEvent) => void events.push(event);
    limiter = createRateLimiter({ store, limits, timeout: 400, logger: false, onDecision });
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
      { action: "limit", name: "open", key: "bob", count: 2, result: passed },
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

  it("does not pass what is wrong with the call", async () => {
    await expect(limiter.limit("open", { key: "" })).rejects.toThrow(RateLimitInputError);
    await expect(limiter.limit("open", { count: 3 })).rejects.toThrow(RateLimitInputError);
    const misspelt = { cuont: 1 } as { count?: number };
    await expect(limiter.limit("open", misspelt)).rejects.toThrow(RateLimitConfigError);
  });
});

describe("a limit that lets calls through when the store fails", () => {
  it("lets them through without its table, too, and the log says what is missing", async () => {
    await using database = await createPostgres();
    await database.prisma.$executeRawUnsafe(`DROP TABLE "RateLimit"`);
    const { store, close } = openStore("pg", database.url);
    onTestFinished(close);
    const said: string[] = [];
    const logger = { error: (message: string) => void said.push(message), warn() {} };
    const limiter = createRateLimiter({ store, limits, logger });
    for (let i = 0; i < 3; i++) expect(await limiter.limit("open")).toMatchObject({ ok: true });
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
