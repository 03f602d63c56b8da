/** A missing user id must not put all visitors into one bucket. */
import { initTRPC } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, type KeyAnswer, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { keyOption } from "../../../core/key-option.js";
import { type Door, DOORS, openDoor } from "../../support/live-doors.js";

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

/** The cause is for the developer: clients of the handler get code and message. */
const shownBy = <T extends { cause: object }>(door: Door, { cause, ...shown }: T) =>
  door === "router" ? { ...shown, cause } : shown;

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
    door: (door: Door) =>
      openDoor<Context>(door, {
        limiter,
        key: key ?? SHARED_BUCKET,
        authorize: () => true,
      }),
    left: async (of?: string) => (await limiter.getValue("one", keyOption(of))).value,
  };
}

describe("a key function that returns undefined", () => {
  it.each(DOORS)("is refused by every action of the %s", async (door) => {
    const { door: open, left } = start(userId);
    const create = open(door);
    const refused = shownBy(door, missing);
    const { status, check, limit, reset, watch } = create({});
    for (const call of [status, check, limit, reset]) {
      await expect(call({ name: "one" })).rejects.toMatchObject(refused);
    }
    const stream = await watch({ items: [{ name: "one" }] });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
    expect(await left()).toBe(5);
    expect(await create({ userId: "ada" }).limit({ name: "one" })).toMatchObject({ value: 4 });
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
    const { t, rl, door, left } = start();
    const ask = t.procedure.use(rl.rateLimited("one")).query(() => true);
    await t.router({ ask }).createCaller({}).ask();
    expect(await left()).toBe(4);
    for (const each of DOORS) {
      expect(await door(each)({}).status({ name: "one" })).toMatchObject({ value: 4 });
    }
  });

  it("is used where a key function returns SHARED_BUCKET", async () => {
    const { t, rl, door, left } = start(() => SHARED_BUCKET);
    const options = [{}, { key: SHARED_BUCKET }, { key: async () => SHARED_BUCKET }] as const;
    for (const option of options) {
      const ask = t.procedure.use(rl.rateLimited("one", option)).query(() => true);
      await t.router({ ask }).createCaller({}).ask();
    }
    expect(await left()).toBe(2);
    for (const each of DOORS) {
      const { status } = door(each)({});
      expect(await status({ name: "one" })).toMatchObject({ value: 2 });
      // A client cannot ask for it, not even by the name of the symbol.
      const requested = status({ name: "one", key: String(SHARED_BUCKET) });
      await expect(requested).rejects.toMatchObject({ code: "BAD_REQUEST" });
    }
  });
});

it("a key function of the middleware rejects a call with null, as the resolver does", async () => {
  const { t, rl, left } = start(() => "ada");
  const ask = t.procedure.use(rl.rateLimited("one", { key: () => null })).query(() => true);
  await expect(t.router({ ask }).createCaller({}).ask()).rejects.toMatchObject(noKey);
  expect(await left()).toBe(5);
});

it("tells a call without a key from others by its cause, for an answer of the application's own", async () => {
  const { t, rl, door } = start(() => null);
  const cause = { name: "RateLimitInputError", reason: "no key", message: noKey.message };
  const ask = t.procedure.use(rl.rateLimited("one")).query(() => true);
  await expect(t.router({ ask }).createCaller({}).ask()).rejects.toMatchObject({ ...noKey, cause });
  for (const each of DOORS) {
    const { status } = door(each)({});
    const refused = shownBy(each, { ...noKey, cause });
    await expect(status({ name: "one" })).rejects.toMatchObject(refused);
    const requested = status({ name: "one", key: "bob" });
    await expect(requested).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(requested).rejects.not.toHaveProperty("cause.reason");
  }
});
