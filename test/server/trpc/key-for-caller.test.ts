/** A missing user id must not put all visitors into one bucket. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, type KeyAnswer, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { keyOption } from "../../../core/key-option.js";

interface Context {
  userId?: string;
}

/** As in plain JavaScript, where no compiler checks what a function returns. */
const userId = (({ ctx }: { ctx: Context }) => ctx.userId) as () => string;

const noKey = { code: "BAD_REQUEST", message: 'Rate limit "one" has no key for this caller' };
const missing = {
  ...noKey,
  cause: {
    name: "RateLimitConfigError",
    message:
      'the key function returned undefined for rate limit "one"; return the key, null to reject ' +
      "the request, or SHARED_BUCKET for the bucket that all callers share",
  },
};

function start(key?: () => KeyAnswer) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 0,
    limits: { one: { kind: "token bucket", rate: 5, period: MINUTE } },
  });
  const t = initTRPC.context<Context>().create();
  const rl = createRateLimitTRPC({
    key: SHARED_BUCKET,
    t,
    limiter,
    ...(key && { key }),
    authorize: () => true,
  });
  return {
    t,
    rl,
    router: t.createCallerFactory(rl.router),
    left: async (of?: string) => (await limiter.getValue("one", keyOption(of))).value,
  };
}

describe("a key function that returns undefined", () => {
  it("is refused by every procedure of the router, with a message for the developer", async () => {
    const { router, left } = start(userId);
    const { status, check, limit, reset, watch } = router({});
    for (const call of [status, check, limit, reset]) {
      await expect(call({ name: "one" })).rejects.toMatchObject(missing);
    }
    const stream = await watch({ items: [{ name: "one" }] });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject(missing);
    expect(await left()).toBe(5);
    expect(await router({ userId: "ada" }).limit({ name: "one" })).toMatchObject({ value: 4 });
  });

  it("is refused by the middleware, which charges nothing", async () => {
    const { t, rl, left } = start(userId);
    const router = t.router({
      byResolver: t.procedure.use(rl.rateLimited("one")).query(() => true),
      byOption: t.procedure.use(rl.rateLimited("one", { key: userId })).query(() => true),
    });
    for (const ask of [router.createCaller({}).byResolver, router.createCaller({}).byOption]) {
      await expect(ask()).rejects.toMatchObject(missing);
    }
    expect(await left()).toBe(5);
    await router.createCaller({ userId: "ada" }).byOption();
    expect(await left("ada")).toBe(4);
  });
});

describe("the bucket that all callers share", () => {
  it("is used where there is no key function", async () => {
    const { t, rl, router, left } = start();
    const ask = t.procedure.use(rl.rateLimited("one")).query(() => true);
    await t.router({ ask }).createCaller({}).ask();
    expect(await left()).toBe(4);
    expect(await router({}).status({ name: "one" })).toMatchObject({ value: 4 });
  });

  it("is used where a key function returns SHARED_BUCKET", async () => {
    const { t, rl, router, left } = start(() => SHARED_BUCKET);
    const options = [{}, { key: SHARED_BUCKET }, { key: async () => SHARED_BUCKET }] as const;
    for (const option of options) {
      const ask = t.procedure.use(rl.rateLimited("one", option)).query(() => true);
      await t.router({ ask }).createCaller({}).ask();
    }
    expect(await left()).toBe(2);
    expect(await router({}).status({ name: "one" })).toMatchObject({ value: 2 });
    // A client cannot ask for it, not even by the name of the symbol.
    const requested = router({}).status({ name: "one", key: String(SHARED_BUCKET) });
    await expect(requested).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

it("a key function of the middleware rejects a call with null, as the resolver does", async () => {
  const { t, rl, left } = start(() => "ada");
  const ask = t.procedure.use(rl.rateLimited("one", { key: () => null })).query(() => true);
  await expect(t.router({ ask }).createCaller({}).ask()).rejects.toMatchObject(noKey);
  expect(await left()).toBe(5);
});

it("tells a call without a key from others by its cause, for an answer of the application's own", async () => {
  const { t, rl, router } = start(() => null);
  const cause = { name: "RateLimitInputError", reason: "no key", message: noKey.message };
  const ask = t.procedure.use(rl.rateLimited("one")).query(() => true);
  await expect(t.router({ ask }).createCaller({}).ask()).rejects.toMatchObject({ ...noKey, cause });
  await expect(router({}).status({ name: "one" })).rejects.toMatchObject({ ...noKey, cause });
  const requested = router({}).status({ name: "one", key: "bob" });
  await expect(requested).rejects.not.toHaveProperty("cause.reason");
});
