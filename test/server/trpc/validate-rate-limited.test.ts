/** The options of `createRateLimitTRPC` and of its middleware. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";

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

describe("throws at construction for", () => {
  it("a limiter without limits", () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits: {} });
    expect(() =>
      createRateLimitTRPC({ key: SHARED_BUCKET, t: initTRPC.create(), limiter }),
    ).toThrow("the limiter has no limits; name at least one in createRateLimiter({ limits })");
  });

  it.each([0, -1, NaN])("an interval of %d ms", (interval) => {
    expect(() => create(interval)).toThrow("interval must be a number of ms above 0");
  });

  it("a middleware that would charge nothing", () => {
    const { rl } = create();
    for (const make of [rl.rateLimited, rl.rateLimited.transaction]) {
      expect(() => make([])).toThrow("rateLimited() needs the name of at least one limit");
    }
  });
});

/** In plain JavaScript, no compiler checks what is passed. */
describe("in plain JavaScript, throws at definition for", () => {
  it.each([
    ["a misspelt name", ["typo"], 'the limiter has no limit "typo"; add it to its limits'],
    ["one misspelt name of several", [["one", "typo"]], 'the limiter has no limit "typo"'],
    ["a name of Object's prototype", ["toString"], 'the limiter has no limit "toString"'],
    ["no name", [undefined], "rateLimited() needs the name of at least one limit"],
    [
      "a misspelt option",
      ["one", { ky: "a" }],
      'ky is not an option of rateLimited(), got "a"; use key, count, plan, config, reserve, maxWait, holder, once, hold, on, ' +
        "resetOnSuccess",
    ],
    [
      "an unknown value of on",
      ["one", { on: "failure" }],
      'on must be "call", "success", "error" or a function of the error, got "failure"',
    ],
    ["a key that is null", ["one", { key: null }], "key must be a string, got null"],
    ["an empty key", ["one", { key: "" }], "key must not be empty"],
    ["a negative count", ["one", { count: -1 }], "count must be a finite number of at least 0"],
    ["a count that is a string", ["one", { count: "2" }], "count must be a finite number"],
    ["a config without a kind", ["one", { config: { rate: 1, period: 1 } }], "config.kind must be"],
    [
      "a plan of a limit without plans",
      ["one", { plan: "pro" }],
      "plan of rateLimited() is for limits with plans, and its limits have none; leave it out",
    ],
    ["a reserve that is a number", ["one", { reserve: 1 }], "reserve must be a boolean, got 1"],
    [
      "a resetOnSuccess that is a string",
      ["one", { resetOnSuccess: "yes" }],
      'resetOnSuccess must be a boolean, got "yes"',
    ],
  ] as [string, unknown[], string][])("%s", (_what, args, message) => {
    const rateLimited = create().rl.rateLimited as unknown as (...all: unknown[]) => unknown;
    expect(() => rateLimited(...args)).toThrow(message);
  });

  it("an option of rateLimited() that a transaction does not have", () => {
    const { transaction } = create().rl.rateLimited;
    expect(() => transaction("one", { on: "error" } as object)).toThrow(
      'on is not an option of rateLimited.transaction(), got "error"; use key, count, plan, config, reserve',
    );
  });

  it("a misspelt option of createRateLimitTRPC, and a key that is no function", () => {
    const { t, limiter } = create();
    const construct = (options: object) => () =>
      createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter, ...options });
    expect(construct({ athorize: true })).toThrow(
      "athorize is not an option of createRateLimitTRPC(), got true; use t, limiter, key,",
    );
    const asked = "key must be a function that says whose bucket a request takes from";
    for (const key of ["ada", undefined, null]) {
      expect(construct({ key })).toThrow(
        `${asked}, such as ({ ctx }) => ctx.userId, or SHARED_BUCKET`,
      );
    }
    expect(construct({ key: SHARED_BUCKET })).not.toThrow();
  });
});

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
