/** `plan` of `createRateLimitTRPC`: every answer about a limit goes by the caller's plan. */
import { initTRPC, TRPCError } from "@trpc/server";
import { describe, expect, it, vi } from "vitest";
import { createRateLimiter, memoryStore, prismaStore } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { createSqlite } from "../../support/database.js";
import { soon } from "../../support/soon.js";
import {
  byContext,
  FREE,
  PAID,
  startTierServer,
  type Tier,
  type TierResolver,
  TIERS,
} from "../../support/tiers.js";

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
  it("each get the config and the value of their plan from status and watch", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    const [free, paid] = [app.as("ada"), app.as("grace")];
    const name = "send";
    const [ofFree, ofPaid] = [
      { plan: "free", config: FREE, value: 3 },
      { plan: "paid", config: PAID, value: 30 },
    ];
    expect(await free.rateLimit.status.query({ name })).toMatchObject(ofFree);
    expect(await paid.rateLimit.status.query({ name })).toMatchObject(ofPaid);
    expect(await firstOfStream(app)).toMatchObject(ofFree);
    app.plans.set("ada", "paid");
    expect(await firstOfStream(app)).toMatchObject(ofPaid);
  });

  it("may each ask for as many tokens as their plan can hold", async () => {
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

  it("may ask for any number where their plan is unlimited, and are denied by a plan of none", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    const [free, paid] = [app.as("ada"), app.as("grace")];
    const video = { name: "video", count: 1e6 } as const;
    expect(await paid.rateLimit.check.query(video)).toMatchObject({ ok: true });
    expect(await paid.rateLimit.status.query(video)).toMatchObject({
      plan: "paid",
      config: { shadow: true },
    });
    expect(await paid.watchVideo.mutate()).toBe("watched");
    expect(await free.rateLimit.check.query({ name: "video" })).toMatchObject({ ok: false });
    expect(await free.rateLimit.status.query({ name: "video" })).toMatchObject({ value: 0 });
    await expect(free.watchVideo.mutate()).rejects.toMatchObject({
      data: { code: "TOO_MANY_REQUESTS", rateLimit: { name: "video" } },
    });
  });

  it("are charged by their own plan, whatever the middleware and the router's mutation", async () => {
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

  it("are told the config of their plan by denials and header fields", async () => {
    await using app = await startTierServer();
    app.plans.set("grace", "paid");
    for (const [user, plan, config] of [
      ["ada", "free", FREE],
      ["grace", "paid", PAID],
    ] as const) {
      const headers = { "x-user": user, "content-type": "application/json" };
      const post = () => fetch(`${app.server.url}/send`, { method: "POST", headers });
      const policy = `"send";q=${config.rate};w=3600`;
      expect((await post()).headers.get("RateLimit-Policy")).toBe(policy);
      await app.limiter.limit("send", { key: user, plan, count: config.rate - 1 });
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

  it("can be on a limit with shards, which reset fills", async () => {
    await using app = await startTierServer({ plan: () => "paid" });
    const { limit, reset, status } = app.as("ada").rateLimit;
    const valueOf = async () => Math.floor((await status.query({ name: "spread" })).value);
    for (let i = 0; i < 10; i++) await limit.mutate({ name: "spread" });
    expect(await valueOf()).toBe(20);
    await reset.mutate({ name: "spread" });
    expect(await valueOf()).toBe(30);
  });
});

describe("a procedure's own config", () => {
  it("goes before the caller's plan, and leaves the call to that where it is undefined", async () => {
    await using app = await startTierServer();
    for (const user of ["tester", "grace"]) app.plans.set(user, "paid");
    expect(Math.floor(await app.as("tester").sendByOwn.mutate())).toBe(6);
    expect(Math.floor(await app.as("grace").sendByOwn.mutate())).toBe(29);
    expect(Math.floor(await app.as("ada").sendByOwn.mutate())).toBe(2);
  });
});

describe("the resolver", () => {
  it("gets the context, the name of the limit, and the key of the bucket", async () => {
    const plan = vi.fn<TierResolver>(() => "free");
    await using app = await startTierServer({ plan });
    const { rateLimit, sendBoth } = app.as("ada");
    await rateLimit.status.query({ name: "upload", key: "team" });
    const ctx = { user: "ada", plan: "free" };
    expect(plan.mock.calls).toEqual([[{ ctx, name: "upload", key: "team" }]]);
    plan.mockClear();
    await sendBoth.mutate();
    expect(plan.mock.calls.map(([call]) => call)).toEqual([
      { ctx, name: "send", key: "ada" },
      { ctx, name: "upload", key: "ada" },
    ]);
  });

  it("is asked about limits with plans alone", async () => {
    const plan = vi.fn<TierResolver>(() => "paid");
    await using app = await startTierServer({ plan });
    const { rateLimit, sendToAll } = app.as("ada");
    const status = await rateLimit.status.query({ name: "all" });
    expect(status).toMatchObject({ value: 100 });
    expect(status).not.toHaveProperty("plan");
    expect(plan).not.toHaveBeenCalled();
    expect((await sendToAll.mutate()).map(Math.floor)).toEqual([29, 99]);
    expect(plan.mock.calls.map(([{ name }]) => name)).toEqual(["send"]);
  });

  it("goes before the plan function of the limiter", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), ...TIERS, plan: () => "free" });
    const t = initTRPC.create();
    const own = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter }).router.createCaller({});
    expect(await own.status({ name: "send" })).toMatchObject({ plan: "free" });
    const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter, plan: () => "paid" });
    expect(await rl.router.createCaller({}).status({ name: "send" })).toMatchObject({
      plan: "paid",
      config: PAID,
    });
  });

  it("can read the plan from the database", async () => {
    await using database = await createSqlite();
    const { prisma } = database;
    await prisma.$executeRaw`CREATE TABLE "Plan" ("user" TEXT PRIMARY KEY, "plan" TEXT)`;
    await using app = await startTierServer({
      store: prismaStore(prisma),
      async plan({ key }) {
        const rows = await prisma.$queryRaw<{ plan: Tier }[]>`
          SELECT "plan" FROM "Plan" WHERE "user" = ${key}`;
        return rows[0]?.plan ?? "free";
      },
    });
    const { send, rateLimit } = app.as("ada");
    expect(Math.floor(await send.mutate())).toBe(2);
    await prisma.$executeRaw`INSERT INTO "Plan" VALUES ('ada', 'paid')`;
    await rateLimit.reset.mutate({ name: "send" });
    expect(Math.floor(await send.mutate())).toBe(29);
    expect(await rateLimit.status.query({ name: "send" })).toMatchObject({ config: PAID });
    expect(await firstOfStream(app)).toMatchObject({ config: PAID });
  });

  it("is not called for a caller without a key, or without a right to limit and reset", async () => {
    const plan = vi.fn<() => "free">();
    const t = initTRPC.create();
    const limiter = createRateLimiter({ store: memoryStore(), ...TIERS });
    const keyless = createRateLimitTRPC({ t, limiter, plan, key: () => null });
    const { status } = keyless.router.createCaller({});
    await expect(status({ name: "send" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const { reset } = createRateLimitTRPC({
      key: SHARED_BUCKET,
      t,
      limiter,
      plan,
    }).router.createCaller({});
    await expect(reset({ name: "send" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(plan).not.toHaveBeenCalled();
  });
});

describe("a resolver that fails", () => {
  /** What each of the procedures fails with. */
  async function errorsOf(plan: TierResolver): Promise<{ message: string; data: object }[]> {
    await using app = await startTierServer({ plan });
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
    const { value } = await app.limiter.getValue("send", { key: "ada", plan: "free" });
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
    ["a plan that does not exist", "gold"],
    ["nothing", undefined],
    ["null", null],
    ["a config", FREE],
  ])("with %s tells the client nothing internal", async (_what, plan) => {
    for (const { message, data } of await errorsOf(() => plan as Tier)) {
      expect(message).toBe("A rate limit of this request has no valid config");
      expect(data).toMatchObject({ code: "INTERNAL_SERVER_ERROR", httpStatus: 500 });
    }
  });

  it("tells the developer the reason, in the cause", async () => {
    const t = initTRPC.create();
    const limiter = createRateLimiter({ store: memoryStore(), ...TIERS });
    const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter, plan: () => "gold" as Tier });
    const error: unknown = await rl.router
      .createCaller({})
      .status({ name: "send" })
      .catch((thrown: unknown) => thrown);
    expect((error as Error).cause).toMatchObject({
      name: "RateLimitConfigError",
      option: "plan",
      value: "gold",
      message:
        'the plan function returned "gold" for rate limit "send"; return one of "free", "paid"',
    });
  });

  it("fails a call alike where it is the plan function of the limiter", async () => {
    const t = initTRPC.create();
    const limiter = createRateLimiter({
      store: memoryStore(),
      ...TIERS,
      plan: () => "gold" as Tier,
    });
    const caller = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter }).router.createCaller({});
    await expect(caller.status({ name: "send" })).rejects.toMatchObject({
      code: "INTERNAL_SERVER_ERROR",
      cause: { name: "RateLimitConfigError", option: "plan", value: "gold" },
    });
  });
});

describe("at construction", () => {
  const t = initTRPC.create();
  it("the plan function of the limiter is enough, also of one that is spread or behind a proxy", () => {
    const asking = createRateLimiter({ store: memoryStore(), ...TIERS, plan: () => "free" });
    for (const given of [asking, { ...asking }, new Proxy(asking, {})]) {
      createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter: given });
    }
  });
});

describe("a change of the plan", () => {
  it("reaches a stream that is open, if the resolver looks the plan up", async () => {
    const plans = new Map<string, Tier>();
    await using app = await startTierServer({
      plan: ({ ctx }) => plans.get(ctx.user) ?? "free",
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
    await app.limiter.limit("send", { key: "ada", plan: "free", count: 2 });
    await soon(() => expect(seen.at(-1)).toEqual(["send", 1, 3]));
    plans.set("ada", "paid");
    await soon(() => {
      expect(seen).toContainEqual(["send", 28, 30]);
      expect(seen).toContainEqual(["upload", 30, 30]);
    });
    expect(app.server.requests("rateLimit.watch")).toBe(1);
    // Changes arrive by the new plan.
    await app.limiter.limit("upload", { key: "ada", plan: "paid", count: 5 });
    await soon(() => expect(seen.at(-1)).toEqual(["upload", 25, 30]));
    stream.unsubscribe();
  });

  it("leaves another stream of the same user as it is, until that is resolved again", async () => {
    await using app = await startTierServer({ plan: byContext });
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
    await soon(() => expect(before.seen.at(-1)).toEqual([0, 3]));
    for (const { stop } of [before, after]) stop();
  });
});
