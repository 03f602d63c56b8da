/** `config` of `createRateLimitTRPC`: every answer about a limit goes by the caller's config. */
import { initTRPC, TRPCError } from "@trpc/server";
import { describe, expect, it, vi } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  prismaStore,
  type RateLimitConfig,
} from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { createSqlite } from "../../support/database.js";
import { soon } from "../../support/soon.js";
import { byContext, FREE, PAID, startTierServer, type TierResolver } from "../../support/tiers.js";

type App = Awaited<ReturnType<typeof startTierServer>>;

/** The first snapshot of a stream, or its first error. */
function firstOfStream({ server }: App): Promise<unknown> {
  return new Promise((resolve) => {
    const end = (first: unknown) => {
      stream.unsubscribe();
      resolve(first);
    };
    const stream = server.connect().rateLimit.watch.subscribe(
      { items: [{ name: "send" }] },
      {
        onData: end,
        onError: end,
        // After an internal error, tRPC's client connects again.
        onConnectionStateChange: ({ error }) => error && end(error),
      },
    );
  });
}

describe("a free and a paying caller", () => {
  it("each get their own config and value from status and watch", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    const [free, paid] = [app.as("ada"), app.as("grace")];
    const name = "send";
    expect(await free.rateLimit.status.query({ name })).toMatchObject({ config: FREE, value: 3 });
    expect(await paid.rateLimit.status.query({ name })).toMatchObject({ config: PAID, value: 30 });
    expect(await firstOfStream(app)).toMatchObject({ config: FREE, value: 3 });
    app.plans.set("ada", "paid");
    expect(await firstOfStream(app)).toMatchObject({ config: PAID, value: 30 });
  });

  it("may each ask for as many tokens as their config can hold", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    const [free, paid] = [app.as("ada").rateLimit, app.as("grace").rateLimit];
    for (const procedure of ["status", "check"] as const) {
      await free[procedure].query({ name: "send", count: 3 });
      await paid[procedure].query({ name: "send", count: 30 });
      for (const [router, count] of [
        [free, 4],
        [paid, 31],
      ] as const) {
        await expect(router[procedure].query({ name: "send", count })).rejects.toMatchObject({
          data: { code: "PAYLOAD_TOO_LARGE" },
        });
      }
    }
  });

  it("are charged by their own config, whatever the middleware and the router's mutation", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    const [free, paid] = [app.as("ada"), app.as("grace")];
    const floored = async (call: Promise<{ value: number } | number>) => {
      const result = await call;
      return Math.floor(typeof result === "number" ? result : result.value);
    };
    expect(await floored(paid.send.mutate())).toBe(29);
    expect(await floored(paid.sendInTransaction.mutate())).toBe(28);
    expect((await paid.sendBoth.mutate()).map(Math.floor)).toEqual([27, 29]);
    expect(await floored(paid.rateLimit.limit.mutate({ name: "send", count: 20 }))).toBe(7);
    expect(await floored(free.send.mutate())).toBe(2);
    expect(await floored(free.rateLimit.check.query({ name: "send" }))).toBe(1);
    expect(await floored(paid.rateLimit.check.query({ name: "send" }))).toBe(6);
  });

  it("are told their own config by denials and header fields", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    for (const [user, config] of [
      ["ada", FREE],
      ["grace", PAID],
    ] as const) {
      const headers = { "x-user": user, "content-type": "application/json" };
      const post = () => fetch(`${app.server.url}/send`, { method: "POST", headers });
      const policy = `"send";q=${config.rate};w=3600`;
      expect((await post()).headers.get("RateLimit-Policy")).toBe(policy);
      await app.limiter.limit("send", { key: user, config, count: config.rate - 1 });
      const denied = await post();
      expect(denied.status).toBe(429);
      expect(denied.headers.get("RateLimit-Policy")).toBe(policy);
      for (const procedure of ["send", "sendInTransaction", "sendBoth"] as const) {
        await expect(app.as(user)[procedure].mutate()).rejects.toMatchObject({
          data: { code: "TOO_MANY_REQUESTS", rateLimit: { name: "send", config } },
        });
      }
    }
  });

  it("can be on limits with different numbers of shards, which reset fills", async () => {
    const sharded = { ...PAID, shards: 10 };
    await using app = await startTierServer({ config: () => sharded });
    const { limit, reset, status } = app.as("ada").rateLimit;
    const valueOf = async () => Math.floor((await status.query({ name: "send" })).value);
    for (let i = 0; i < 10; i++) await limit.mutate({ name: "send" });
    expect(await valueOf()).toBe(20);
    await reset.mutate({ name: "send" });
    expect(await valueOf()).toBe(30);
  });
});

describe("a procedure's own config", () => {
  it("goes before the caller's, and leaves the answer to that where it is undefined", async () => {
    await using app = await startTierServer();
    for (const user of ["tester", "grace"]) app.plans.set(user, "paid");
    expect(Math.floor(await app.as("tester").sendByOwn.mutate())).toBe(6);
    expect(Math.floor(await app.as("grace").sendByOwn.mutate())).toBe(29);
    expect(Math.floor(await app.as("ada").sendByOwn.mutate())).toBe(2);
  });
});

describe("the resolver", () => {
  it("gets the context, the name of the limit, and the key of the bucket", async () => {
    const config = vi.fn<TierResolver>(() => undefined);
    await using app = await startTierServer({ config });
    const { rateLimit, sendBoth } = app.as("ada");
    await rateLimit.status.query({ name: "upload", key: "team" });
    const ctx = { user: "ada", plan: "free" };
    expect(config.mock.calls).toEqual([[{ ctx, name: "upload", key: "team" }]]);
    config.mockClear();
    await sendBoth.mutate();
    expect(config.mock.calls.map(([call]) => call)).toEqual([
      { ctx, name: "send", key: "ada" },
      { ctx, name: "upload", key: "ada" },
    ]);
  });

  it("can read the plan from the database", async () => {
    await using database = await createSqlite();
    const { prisma } = database;
    await prisma.$executeRaw`CREATE TABLE "Plan" ("user" TEXT PRIMARY KEY, "rate" INTEGER)`;
    await using app = await startTierServer({
      store: prismaStore(prisma),
      async config({ key }) {
        const rows = await prisma.$queryRaw<{ rate: number }[]>`
          SELECT "rate" FROM "Plan" WHERE "user" = ${key}`;
        return rows[0] && { ...FREE, rate: rows[0].rate };
      },
    });
    const { send, rateLimit } = app.as("ada");
    expect(Math.floor(await send.mutate())).toBe(2);
    await prisma.$executeRaw`INSERT INTO "Plan" VALUES ('ada', 100)`;
    await rateLimit.reset.mutate({ name: "send" });
    expect(Math.floor(await send.mutate())).toBe(99);
    expect(await rateLimit.status.query({ name: "send" })).toMatchObject({ config: { rate: 100 } });
    expect(await firstOfStream(app)).toMatchObject({ config: { rate: 100 } });
  });

  it("is not called for a caller without a key, or without a right to limit and reset", async () => {
    const config = vi.fn<() => undefined>();
    const t = initTRPC.create();
    const limiter = createRateLimiter({ store: memoryStore(), limits: { send: FREE } });
    const keyless = createRateLimitTRPC({ t, limiter, config, key: () => null });
    const { status } = keyless.router.createCaller({});
    await expect(status({ name: "send" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const { reset } = createRateLimitTRPC({ t, limiter, config }).router.createCaller({});
    await expect(reset({ name: "send" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(config).not.toHaveBeenCalled();
  });
});

describe("a resolver that fails", () => {
  /** What each of the procedures fails with. */
  async function errorsOf(config: TierResolver): Promise<{ message: string; data: object }[]> {
    await using app = await startTierServer({ config });
    const client = app.as("ada");
    const { rateLimit } = client;
    const name = "send";
    const calls = [
      rateLimit.status.query({ name }),
      rateLimit.check.query({ name }),
      rateLimit.limit.mutate({ name }),
      rateLimit.reset.mutate({ name }),
      client.send.mutate(),
      client.sendInTransaction.mutate(),
      client.sendBoth.mutate(),
    ];
    const results = await Promise.allSettled(calls);
    const { value } = await app.limiter.getValue("send", { key: "ada" });
    expect(value).toBe(3);
    const errors = results.map((result) => {
      if (result.status === "fulfilled") return expect.fail("the call was answered");
      return result.reason as never;
    });
    return [...errors, (await firstOfStream(app)) as never];
  }

  it("passes its TRPCError on, and no tokens are taken", async () => {
    const errors = await errorsOf(() => {
      throw new TRPCError({ code: "UNAUTHORIZED", message: "Log in to see your plan" });
    });
    for (const { message, data } of errors) {
      expect(message).toBe("Log in to see your plan");
      expect(data).toMatchObject({ code: "UNAUTHORIZED" });
    }
  });

  it.each([
    ["a rate of 0", { ...FREE, rate: 0 }],
    ["an option that does not exist", { ...FREE, limit: 5 }],
    ["null", null],
    ["a name", "paid"],
  ])("with %s tells the client nothing internal", async (_what, config) => {
    for (const { message, data } of await errorsOf(() => config as RateLimitConfig)) {
      expect(message).toBe("A rate limit of this request has no valid config");
      expect(data).toMatchObject({ code: "INTERNAL_SERVER_ERROR", httpStatus: 500 });
    }
  });

  it("tells the developer the reason, in the cause", async () => {
    const t = initTRPC.create();
    const limiter = createRateLimiter({ store: memoryStore(), limits: { send: FREE } });
    const rl = createRateLimitTRPC({ t, limiter, config: () => ({ ...FREE, rate: -1 }) });
    const error: unknown = await rl.router
      .createCaller({})
      .status({ name: "send" })
      .catch((thrown: unknown) => thrown);
    expect((error as Error).cause).toMatchObject({
      name: "RateLimitConfigError",
      option: "config.rate",
      value: -1,
      message:
        'the config function returned an invalid config for rate limit "send": ' +
        "config.rate must be a finite number above 0, got -1",
    });
  });

  it("is found at construction where it is no function", () => {
    const t = initTRPC.create();
    const limiter = createRateLimiter({ store: memoryStore(), limits: { send: FREE } });
    const options = { t, limiter, config: FREE as never };
    expect(() => createRateLimitTRPC(options)).toThrow("config must be a function, got an object");
  });
});

describe("a change of the plan", () => {
  it("reaches a stream that is open, if the resolver looks the plan up", async () => {
    const plans = new Map<string, RateLimitConfig>();
    await using app = await startTierServer({
      config: ({ ctx }) => plans.get(ctx.user),
      keyInterval: 50,
    });
    const seen: unknown[] = [];
    const stream = app.server
      .connect()
      .rateLimit.watch.subscribe(
        { items: [{ name: "send" }, { name: "upload" }] },
        { onData: ({ name, value, config }) => seen.push([name, Math.round(value), config.rate]) },
      );
    await soon(() => expect(seen).toHaveLength(2));
    await app.limiter.limit("send", { key: "ada", count: 2 });
    await soon(() => expect(seen.at(-1)).toEqual(["send", 1, 3]));
    plans.set("ada", PAID);
    await soon(() => {
      expect(seen).toContainEqual(["send", 1, 30]);
      expect(seen).toContainEqual(["upload", 30, 30]);
    });
    expect(app.server.requests("rateLimit.watch")).toBe(1);
    // Changes arrive by the new config.
    await app.limiter.limit("upload", { key: "ada", config: PAID, count: 5 });
    await soon(() => expect(seen.at(-1)).toEqual(["upload", 25, 30]));
    stream.unsubscribe();
  });

  it("leaves another stream of the same user as it is, until that is resolved again", async () => {
    await using app = await startTierServer({ config: byContext });
    const open = () => {
      const seen: unknown[] = [];
      const stream = app.server
        .connect()
        .rateLimit.watch.subscribe(
          { items: [{ name: "send" }] },
          { onData: ({ value, config }) => seen.push([Math.round(value), config.rate]) },
        );
      return { seen, stop: () => stream.unsubscribe() };
    };
    const before = open();
    await soon(() => expect(before.seen).toEqual([[3, 3]]));
    app.plans.set("ada", "paid");
    const after = open();
    await soon(() => expect(after.seen).toEqual([[30, 30]]));
    await app.as("ada").rateLimit.limit.mutate({ name: "send", count: 28 });
    await soon(() => expect(after.seen.at(-1)).toEqual([2, 30]));
    await soon(() => expect(before.seen.at(-1)).toEqual([2, 3]));
    for (const { stop } of [before, after]) stop();
  });
});
