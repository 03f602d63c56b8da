/** Policies that must and must not compile. `tsc` checks it; it never runs. */
import { initTRPC } from "@trpc/server";
import {
  createRateLimiter,
  type LimitConfigs,
  memoryStore,
  MINUTE,
  type NotHeld,
  type RateLimitConfig,
  type RateLimitResult,
  type SettleResult,
} from "trpc-rate-limit/server";
import { createRateLimitTRPC, SHARED_BUCKET } from "trpc-rate-limit/trpc";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: 15 * MINUTE },
    llmTokens: { kind: "token bucket", rate: 40_000, period: MINUTE, whenStoreFails: "allow" },
    images: { kind: "fixed window", rate: 100, period: "month", start: 0, shadow: true },
  },
});
const inline = { kind: "fixed window", rate: 1, period: "month" } as const;

({
  limit: { kind: "fixed window", rate: 1, period: "month", shadow: false, whenStoreFails: "fail" },
}) satisfies LimitConfigs;
({
  // @ts-expect-error a token bucket has no months
  limit: { kind: "token bucket", rate: 1, period: "month" },
}) satisfies LimitConfigs;
({
  // @ts-expect-error no such period
  limit: { kind: "fixed window", rate: 1, period: "year" },
}) satisfies LimitConfigs;
({
  // @ts-expect-error no such policy
  limit: { kind: "fixed window", rate: 1, period: 1, whenStoreFails: "open" },
}) satisfies LimitConfigs;
({
  // @ts-expect-error a boolean
  limit: { kind: "fixed window", rate: 1, period: 1, shadow: "yes" },
}) satisfies LimitConfigs;
({
  // @ts-expect-error ms
  limit: { kind: "token bucket", rate: 1, period: 1, blockFor: "15m" },
}) satisfies LimitConfigs;
({
  // @ts-expect-error a misspelt option
  limit: { kind: "token bucket", rate: 1, period: 1, blockfor: 1 },
}) satisfies LimitConfigs;

const leased = { kind: "token bucket", rate: 1000, period: MINUTE, lease: { ms: 100 } } as const;
const store = memoryStore();
createRateLimiter({ store, limits: { leased, one: { ...leased, shards: 1 } } });
createRateLimiter({ store, limits: { wide: leased as RateLimitConfig } });
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a lease does not see that the limit was closed
    leased: { ...leased, blockFor: 1000 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a lease has no shards
    leased: { ...leased, shards: 10 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a lease has no months
    leased: { kind: "fixed window", rate: 1000, period: "month", lease: { ms: 100 } },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error and no days
    leased: { kind: "fixed window", rate: 1000, period: "day", lease: { ms: 100 } },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error ms
    leased: { ...leased, lease: { seconds: 1 } },
  },
});

const bucket = { kind: "token bucket", rate: 1, period: MINUTE } as const;
const growing = { ...bucket, blockFor: [MINUTE, 5 * MINUTE] } as const;
createRateLimiter({
  store,
  limits: {
    growing,
    patient: { ...growing, forgiveAfter: 5 * MINUTE, shards: 1 },
    once: { ...bucket, onceFor: MINUTE, shards: 1 },
    leasedOnce: { ...leased, onceFor: MINUTE },
  },
  onceFor: MINUTE,
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error closings are not counted by shard
    growing: { ...growing, shards: 2 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a lease does not see that the limit was closed
    growing: { ...leased, blockFor: [1000, 2000] },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error one closing has nothing to forgive
    patient: { ...bucket, blockFor: 1000, forgiveAfter: 1000 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error nothing closes it
    patient: { ...bucket, forgiveAfter: 1000 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error an id has no row beside shards
    once: { ...bucket, onceFor: MINUTE, shards: 2 },
  },
});

createRateLimiter({ store, limits: { bucket }, whenStoreFails: "allow" });
createRateLimiter({
  store,
  limits: { bucket },
  // @ts-expect-error no such policy
  whenStoreFails: "deny",
});

createRateLimiter({ store, limits: { bucket }, enabled: false });
createRateLimiter({ store, limits: { bucket }, enabled: () => Math.random() < 1 });
createRateLimiter({
  store,
  limits: { bucket },
  // @ts-expect-error a promise is true, whatever comes of it
  enabled: async () => false,
});
export async function switchedOff() {
  const items = [{ name: "logIn" }, { name: "llmTokens" }] as const;
  const result = await limiter.limit("logIn");
  // @ts-expect-error a denial is of a limiter that is on
  if (!result.ok) assert<Equal<typeof result.disabled, true>>();
  if (result.ok) assert<Equal<typeof result.disabled, true | undefined>>();
  const all = await limiter.limitAll(items);
  if (all.ok) assert<Equal<typeof all.disabled, true | undefined>>();
  const refunded = await limiter.refund("logIn");
  assert<Equal<typeof refunded.disabled, true | undefined>>();
}

/** A period is a number only where the kind or the value excludes those of a calendar. */
export function periodOf(config: RateLimitConfig): number {
  if (config.kind === "token bucket") return config.period;
  assert<Equal<typeof config.period, number | "day" | "week" | "month">>();
  return typeof config.period === "string" ? 0 : config.period;
}

/** The names that `charge` autocompletes: those of its last overload. */
type ChargedName = Parameters<typeof limiter.charge>[0];
assert<Equal<ChargedName, "logIn" | "llmTokens" | "images">>();

export async function calls(name: string) {
  const charged = await limiter.charge("llmTokens", { key: "ada", count: 1200 });
  assert<
    Equal<typeof charged, { value: number; retryAfter?: number; repeated?: true; disabled?: true }>
  >();
  await limiter.charge(name, { config: inline });
  // @ts-expect-error an unknown name needs a config
  await limiter.charge("oneOff");
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.charge("llmToken", { count: 1 });
  // @ts-expect-error a charge is never denied, so it cannot throw a denial
  await limiter.charge("llmTokens", { throws: true });
  // @ts-expect-error a charge needs no reservation
  await limiter.charge("llmTokens", { reserve: true });

  await limiter.charge("llmTokens", { once: "id" });
  await limiter.limit(name, { config: inline, once: "id" });
  await limiter.limitAll([{ name: "llmTokens" }], { once: "id" });
  // @ts-expect-error one id for all of them
  await limiter.limitAll([{ name: "llmTokens", once: "id" }]);
  await limiter.acquire("llmTokens", { once: "id" });

  const hold = { for: 1000, then: "keep" } as const;
  await limiter.limit("llmTokens", { once: "id", hold });
  // @ts-expect-error what becomes of a hold that lapses has no default
  await limiter.limit("llmTokens", { once: "id", hold: { for: 1000 } });
  const settled = await limiter.settle("llmTokens", { once: "id" }, undefined);
  if (settled.settled) assert<Equal<typeof settled.count, number>>();
  else assert<Equal<typeof settled.reason, NotHeld>>();
  // @ts-expect-error a hold has an id
  await limiter.release("llmTokens", { key: "ada" });
  // @ts-expect-error a misspelt name is none of the limits
  await limiter.release("llmToken", { once: "id" });
  // @ts-expect-error an id is a text
  await limiter.limit("llmTokens", { once: 7 });
  const sharded = createRateLimiter({ store, limits: { wide: { ...bucket, shards: 2 }, bucket } });
  await sharded.limit("wide", { count: 1 });
  await sharded.limit("bucket", { once: "id" });
  // @ts-expect-error an id has no row beside shards
  await sharded.limit("wide", { once: "id" });
  // @ts-expect-error nor has it for a check
  await sharded.check("wide", { once: "id" });
  // @ts-expect-error nor for a charge
  await sharded.charge("wide", { once: "id" });

  const result = await limiter.limit("llmTokens", { count: 500, once: "id" });
  await limiter.settle(result, 320);
  await limiter.settle(await limiter.acquire("llmTokens"), 0);
  const all = await limiter.limitAll([{ name: "llmTokens" }, { name: "images" }]);
  await limiter.settle(all.results[0]!, 20);
  await limiter.transaction(({ settle, charge }) =>
    Promise.all([settle(result, 1), charge("images")]),
  );
  // @ts-expect-error what was used is unknown
  await limiter.settle(result);
  await limiter.settle(all, 20);
  await limiter.settle(all, { llmTokens: 20 });
  // @ts-expect-error a limit of another name
  await limiter.settle(all, { llmToken: 20 });
  // @ts-expect-error one limit, one count
  await limiter.settle(result, { llmTokens: 20 });
  // @ts-expect-error a charge is final
  await limiter.settle(charged, 20);
  if (result.ok) {
    assert<Equal<typeof result.storeFailed, true | undefined>>();
    assert<Equal<typeof result.repeated, true | undefined>>();
    type Shadow = { ok: boolean; retryAfter: number; granted?: number };
    assert<Equal<typeof result.shadow, Shadow | undefined>>();
  } else {
    // @ts-expect-error a denied call is no shadow's
    void result.shadow;
  }
}

const t = initTRPC.create();
const rl = createRateLimitTRPC({ t, limiter, key: SHARED_BUCKET });

t.procedure.use(rl.rateLimited("llmTokens", { count: 500 })).mutation(async ({ ctx }) => {
  const settled = ctx.rateLimit.settle(320);
  assert<Equal<typeof settled, Promise<SettleResult>>>();
  assert<Equal<Parameters<typeof ctx.rateLimit.settle>, [actual: number | null | undefined]>>();
  // @ts-expect-error one limit needs no name
  await ctx.rateLimit.settle({ llmTokens: 320 });
  // @ts-expect-error what was used is unknown
  await ctx.rateLimit.settle();
});

t.procedure.use(rl.rateLimited(["llmTokens", "images"])).mutation(async ({ ctx }) => {
  await ctx.rateLimit.settle({ llmTokens: 320, images: 1 });
  await ctx.rateLimit.settle({ images: 0 });
  await limiter.settle(ctx.rateLimit.results[0]!, 20);
  assert<Equal<typeof ctx.rateLimit.results, RateLimitResult[]>>();
  // @ts-expect-error a limit of the limiter that this procedure does not charge
  await ctx.rateLimit.settle({ logIn: 1 });
  // @ts-expect-error a misspelt name
  await ctx.rateLimit.settle({ llmToken: 1 });
  // @ts-expect-error which of them
  await ctx.rateLimit.settle(320);
});

t.procedure.use(rl.rateLimited("logIn", { on: "success" }));
t.procedure.use(rl.rateLimited.transaction("images")).mutation(async ({ ctx }) => {
  await ctx.rateLimit.settle(3);
});
// @ts-expect-error no such outcome
rl.rateLimited("logIn", { on: "failure" });
// @ts-expect-error a transaction is charged for every call
t.procedure.use(rl.rateLimited.transaction("images", { on: "success" }));

createRateLimiter({
  store: memoryStore(),
  limits: {
    // @ts-expect-error a token bucket has no windows
    bucket: { kind: "token bucket", rate: 1, period: 1, start: 0 },
    // @ts-expect-error it refills little by little, and is not full at once
    logIn: { kind: "token bucket", rate: 1, period: 1, blockFor: 1, afterBlock: "new window" },
    // @ts-expect-error "next window" or "new window"
    window: { kind: "fixed window", rate: 1, period: 1, blockFor: 1, afterBlock: "full" },
    renewed: { kind: "fixed window", rate: 1, period: 1, blockFor: 1, afterBlock: "new window" },
  },
});

// Days, weeks and months of a time zone.
const daily = { kind: "fixed window", rate: 10, period: "day", timeZone: "Europe/Berlin" } as const;
const { timeZone: _zone, ...utcDaily } = daily;
createRateLimiter({
  store,
  limits: {
    daily,
    utcDaily,
    weekly: { ...daily, period: "week", weekStart: 0 },
    monthly: { ...daily, period: "month", shards: 2, blockFor: MINUTE },
    billed: { kind: "fixed window", rate: 10, period: "month", start: 0 },
    wide: daily as RateLimitConfig,
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error the start of a day is a matter of its zone
    aligned: { ...daily, start: 0 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error so is that of a week in UTC
    week: { ...utcDaily, period: "week", start: 0 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a period in ms has no time zone
    zoned: { ...daily, period: MINUTE },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a token bucket has no windows
    bucket: { kind: "token bucket", rate: 10, period: "day" },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error only weeks have a first day
    first: { ...daily, weekStart: 1 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a week has seven days
    eighth: { ...daily, period: "week", weekStart: 7 },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error a day does not start when a block ends
    reopening: { ...daily, blockFor: MINUTE, afterBlock: "new window" },
  },
});
createRateLimiter({
  store,
  limits: {
    // @ts-expect-error only a server lists windows
    listed: { ...daily, starts: [0] },
  },
});
