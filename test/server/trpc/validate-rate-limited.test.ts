/** The options of `createRateLimitTRPC` and of its middleware. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";

const limit = { kind: "token bucket", rate: 5, period: MINUTE, maxReserved: 5 } as const;

function create(interval?: number) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 0,
    limits: { one: limit, two: limit },
  });
  const t = initTRPC.context<{ user: string }>().create();
  const asked: unknown[] = [];
  const rl = createRateLimitTRPC({
    t,
    limiter,
    ...(interval !== undefined && { interval }),
    key: ({ ctx, name, requested }) => {
      if (requested === "shared") return "all callers";
      if (requested !== undefined) return requested;
      if (ctx.user === "keyless") throw new Error("this user has no key");
      return `${ctx.user} ${name}`;
    },
    authorize: ({ ctx, ...what }) => {
      asked.push(what);
      return ctx.user === "admin";
    },
  });
  return { limiter, t, rl, asked, as: t.createCallerFactory(rl.router) };
}

describe("a middleware of several limits", () => {
  it("resolves a key for each of them", async () => {
    const { limiter, rl, t } = create();
    const router = t.router({
      ask: t.procedure.use(rl.rateLimited(["one", "two"])).query(() => 1),
    });
    await router.createCaller({ user: "ada" }).ask();
    expect((await limiter.getValue("one", { key: "ada one" })).value).toBe(4);
    expect((await limiter.getValue("two", { key: "ada two" })).value).toBe(4);
  });

  it("passes the name of the limit and the call to the functions among its options", async () => {
    const { limiter, rl, t } = create();
    const charged = rl.rateLimited(["one", "two"], {
      key: ({ name, ctx, path, type }) => `${name} ${ctx.user} ${path} ${type}`,
      count: ({ name }) => (name === "one" ? 2 : 3),
    });
    const router = t.router({ ask: t.procedure.use(charged).query(() => 1) });
    await router.createCaller({ user: "ada" }).ask();
    expect((await limiter.getValue("one", { key: "one ada ask query" })).value).toBe(3);
    expect((await limiter.getValue("two", { key: "two ada ask query" })).value).toBe(2);
  });
});

describe("a key that a client asks for", () => {
  it("may be the caller's own", async () => {
    const { as } = create();
    const own = { name: "one", key: "ada one" } as const;
    expect(await as({ user: "ada" }).status(own)).toMatchObject(own);
  });

  it("is used by a resolver that has no other key", async () => {
    const { as } = create();
    const shared = { name: "one", key: "shared" } as const;
    expect(await as({ user: "keyless" }).status(shared)).toMatchObject(shared);
  });
});

describe("the router's mutations", () => {
  it("pass their action, name and key to authorize", async () => {
    const { as, asked } = create();
    await expect(as({ user: "ada" }).limit({ name: "one" })).rejects.toThrow("may not use");
    await expect(as({ user: "ada" }).reset({ name: "two" })).rejects.toThrow("may not use");
    expect(asked).toEqual([
      { action: "limit", name: "one", key: "ada one" },
      { action: "reset", name: "two", key: "ada two" },
    ]);
  });

  it("take the requested count, with reserve also tokens that are still to come", async () => {
    const admin = create().as({ user: "admin" });
    expect(await admin.limit({ name: "one", count: 4 })).toMatchObject({ ok: true, value: 1 });
    expect(await admin.limit({ name: "one", count: 4 })).toMatchObject({ ok: false });
    const reserved = await admin.limit({ name: "one", count: 4, reserve: true });
    expect(reserved).toMatchObject({ ok: true, value: -3, retryAfter: (3 * MINUTE) / 5 });
    await admin.reset({ name: "one" });
    expect(await admin.check({ name: "one", count: 5 })).toMatchObject({ ok: true, value: 0 });
  });
});
