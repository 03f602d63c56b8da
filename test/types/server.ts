/** Code that must and must not compile on the server. `tsc` checks it; it never runs. */
import { initTRPC } from "@trpc/server";
import type * as mariadb from "mariadb";
import type * as mysql2Callback from "mysql2";
import type * as mysql2 from "mysql2/promise";
import type * as pg from "pg";
import {
  createRateLimiter,
  isRateLimitError,
  type LimitConfigs,
  memoryStore,
  MINUTE,
  mysqlStore,
  pgStore,
  prismaStore,
  type RateLimitConfig,
  type RateLimitResult,
  SECOND,
  type TransactionOf,
} from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { z } from "zod";
import { PrismaClient } from "../../prisma/generated/client/client.js";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    signUp: { kind: "fixed window", rate: 100, period: MINUTE, start: 0 },
  },
});
/** Limits on their own, such as for two limiters or for tests. */
const shared = {
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  signUp: { kind: "fixed window", rate: 100, period: MINUTE, start: 0 },
} satisfies LimitConfigs;
const fromShared = createRateLimiter({ store: memoryStore(), limits: shared });
assert<Equal<keyof typeof fromShared.limits, "sendMessage" | "signUp">>();
({
  // @ts-expect-error no such kind
  broken: { kind: "sliding window", rate: 1, period: 1 },
}) satisfies LimitConfigs;

const inline = { kind: "fixed window", rate: 1, period: SECOND } as const;

/** The transaction of a store on MySQL is a connection of the pool's own type. */
export async function mysqlTransactions(
  pool: mysql2.Pool,
  callbackPool: mysql2Callback.Pool,
  mariadbPool: mariadb.Pool,
) {
  const limits = {};
  await createRateLimiter({ store: mysqlStore(pool), limits }).transaction(async ({ tx }) =>
    assert<Equal<typeof tx, mysql2.PoolConnection>>(),
  );
  await createRateLimiter({ store: mysqlStore(callbackPool), limits }).transaction(async ({ tx }) =>
    assert<Equal<typeof tx, mysql2.PoolConnection>>(),
  );
  const onMariadb = createRateLimiter({ store: mysqlStore(mariadbPool), limits });
  await onMariadb.transaction(async ({ tx }) => assert<Equal<typeof tx, mariadb.PoolConnection>>());
  onMariadb.using(await mariadbPool.getConnection());
  // @ts-expect-error a connection of another client
  onMariadb.using(await pool.getConnection());
  // @ts-expect-error a URL is not a pool
  mysqlStore("mysql://localhost");
}

/** So it is with `pgStore`. */
export async function pgTransactions(pool: pg.Pool, mysqlPool: mysql2.Pool) {
  const onPg = createRateLimiter({ store: pgStore(pool), limits: {} });
  await onPg.transaction(async ({ tx }) => assert<Equal<typeof tx, pg.PoolClient>>());
  onPg.using(await pool.connect());
  // @ts-expect-error a connection of another client
  onPg.using(await mysqlPool.getConnection());
  // @ts-expect-error a URL is not a pool
  pgStore("postgresql://localhost");
}

export async function calls(name: string, userId: string, visitorId: string | undefined) {
  await limiter.limit("sendMessage");
  // @ts-expect-error with exactOptionalPropertyTypes, a missing user id is not the shared bucket
  await limiter.limit("sendMessage", { key: visitorId });
  await limiter.limit("sendMessage", { key: userId, count: 2, reserve: true, throws: true });
  await limiter.limit("sendMessage", { config: inline });
  await limiter.limit("oneOff", { config: inline });
  await limiter.limit(name, { config: inline });
  await limiter.acquire(name, { config: inline, maxWait: 5 });
  // With `atLeast`, a grant says how many tokens it got.
  const some = await limiter.limit("sendMessage", { key: userId, count: 50, atLeast: 1 });
  if (some.ok) assert<Equal<typeof some.granted, number>>();
  else assert<Equal<typeof some.retryAfter, number>>();
  const checked = await limiter.check("oneOff", { config: inline, atLeast: userId.length });
  if (checked.ok) assert<Equal<typeof checked.granted, number>>();
  await limiter.transaction(async ({ limit }) => {
    const inside = await limit("sendMessage", { count: 5, atLeast: 2, once: "a" });
    if (inside.ok) assert<Equal<typeof inside.granted, number>>();
  });
  const all = await limiter.limit("sendMessage", { key: userId, count: 50 });
  if (all.ok) assert<Equal<typeof all.granted, number | undefined>>();
  // @ts-expect-error with exactOptionalPropertyTypes, a figure that is missing is not left out
  await limiter.limit("sendMessage", { atLeast: visitorId?.length });
  // @ts-expect-error no reservation of as many as fit waits in line
  await limiter.acquire("sendMessage", { count: 5, atLeast: 1 });
  // @ts-expect-error all or nothing
  await limiter.limitAll([{ name: "sendMessage", count: 5, atLeast: 1 }]);
  await limiter.transaction(({ limit }) => limit("oneOff", { config: inline }));
  // @ts-expect-error an unknown name needs a config
  await limiter.limit("oneOff");
  // @ts-expect-error an unknown name needs a config
  await limiter.limit("oneOff", { key: "k" });
  // @ts-expect-error a name that is only known at run time needs a config
  await limiter.check(name);
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.limit("sendMesage");
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.check("sendMesage");
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.reset("sendMesage");
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.refund("sendMesage");
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.getValue("sendMesage");
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.acquire("sendMesage");
  // @ts-expect-error a misspelt option
  await limiter.limit("sendMessage", { cuont: 2 });
  // @ts-expect-error no such kind
  await limiter.limit("oneOff", { config: { kind: "sliding window", rate: 1, period: SECOND } });
  // @ts-expect-error `start` belongs to fixed windows
  await limiter.limit("oneOff", { config: { kind: "token bucket", rate: 1, period: 1, start: 0 } });

  await limiter.list("sendMessage", { after: userId, count: 5 });
  await limiter.list(name, { config: inline });
  const { items, next } = await limiter.list("signUp");
  assert<Equal<typeof next, string | undefined>>();
  assert<Equal<(typeof items)[number]["key"], string | undefined>>();
  // @ts-expect-error a name that is only known at run time needs a config
  await limiter.list(name);
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.list("sendMesage");
  // @ts-expect-error a list is of all keys
  await limiter.list("signUp", { key: "k" });
  assert<Equal<Awaited<ReturnType<typeof limiter.forget>>, number>>();
  await limiter.forget("ada");
  // @ts-expect-error a missing user id is not the shared bucket
  await limiter.forget(visitorId);
  // @ts-expect-error the same
  await limiter.forget();
  limiter.configOf(name, { key: userId, config: inline });
  // @ts-expect-error an unknown name needs a config
  limiter.configOf(name);
  // @ts-expect-error a limiter has a forget, and a transaction has none
  await limiter.transaction(({ forget }) => forget("ada"));

  await limiter.limitAll([{ name: "sendMessage", key: userId }, { name: "signUp" }]);
  await limiter.limitAll([{ name: "sendMessage" }, { name: "oneOff", config: inline }]);
  const both = ["sendMessage", "signUp"] as const;
  await limiter.limitAll(both.map((each) => ({ name: each, count: 2 })));
  // @ts-expect-error an unknown name needs a config, also among known ones
  await limiter.limitAll([{ name: "sendMessage" }, { name: "oneOff" }]);
  // @ts-expect-error a name that is only known at run time needs a config
  await limiter.limitAll([{ name }]);
  // @ts-expect-error a misspelt name is an unknown one
  await limiter.limitAll([{ name: "sendMesage" }]);
  // @ts-expect-error a misspelt option
  await limiter.limitAll([{ name: "signUp", cuont: 2 }]);

  const result = await limiter.limit("signUp");
  if (result.ok) assert<Equal<typeof result.retryAfter, number | undefined>>();
  else assert<Equal<typeof result.retryAfter, number>>();
}

createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error a limit without a rate
  limits: { broken: { kind: "token bucket", period: 1 } },
});

/** A time zone goes with days, weeks and months alone, wherever a config is written. */
const berlin = { timeZone: "Europe/Berlin" } as const;
export const inZone = {
  daily: { kind: "fixed window", rate: 1, period: "day", ...berlin },
} satisfies LimitConfigs;
createRateLimiter({ store: memoryStore(), limits: inZone });
void limiter.limit("oneOff", {
  config: { kind: "fixed window", rate: 1, period: "day", ...berlin },
});
createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error a minute is not one of a time zone
  limits: { broken: { kind: "fixed window", rate: 1, period: MINUTE, timeZone: "Europe/Berlin" } },
});
// @ts-expect-error the same in a call
void limiter.limit("oneOff", { config: { ...inline, ...berlin } });
({
  // @ts-expect-error the same in limits on their own
  broken: { kind: "fixed window", rate: 1, period: MINUTE, timeZone: "Europe/Berlin" },
}) satisfies LimitConfigs;
export const zoneOfMinutes: RateLimitConfig = {
  kind: "fixed window",
  rate: 1,
  period: MINUTE,
  // @ts-expect-error the same in a config on its own
  timeZone: "Europe/Berlin",
};
export const weeksOfMinutes: RateLimitConfig = {
  kind: "fixed window",
  rate: 1,
  period: MINUTE,
  // @ts-expect-error only a week has a first day
  weekStart: 1,
};
createRateLimiter({
  store: memoryStore(),
  // @ts-expect-error only a week has a first day
  limits: { broken: { kind: "fixed window", rate: 1, period: "day", weekStart: 1 } },
});
/** What is shown of a limit is a config again. */
void limiter.limit("oneOff", { config: limiter.configOf("signUp") as RateLimitConfig });

createRateLimiter({ store: memoryStore(), limits: {}, hashKey: (key) => key.toLowerCase() });
createRateLimiter({
  store: memoryStore(),
  limits: {},
  // @ts-expect-error a hash has to be there at once
  hashKey: async (key) => key,
});

prismaStore(new PrismaClient({} as never));
// @ts-expect-error not a Prisma client
prismaStore({ $queryRaw: 1 });

const sharedTRPC = createRateLimitTRPC({
  t: initTRPC.create(),
  limiter: fromShared,
  key: SHARED_BUCKET,
});
export const sharedRouter = initTRPC.create().router({ rateLimit: sharedTRPC.router });
export type SharedRouter = typeof sharedRouter;
// @ts-expect-error a misspelt name
sharedTRPC.rateLimited("sendMesage");

const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx, name }) => {
    assert<Equal<typeof name, "sendMessage" | "signUp">>();
    return ctx.userId;
  },
  authorize: ({ ctx, action }) => {
    assert<Equal<typeof action, "limit" | "reset">>();
    return ctx.userId === "admin";
  },
});

// @ts-expect-error a name that the limiter does not have
rl.rateLimited("sendMesage");

/** A resolver on its own, whose type is inferred. */
const byUser = ({ ctx, name }: { ctx: { userId: string }; name: string }) =>
  name === "signUp" ? SHARED_BUCKET : ctx.userId;
createRateLimitTRPC({ t, limiter, key: byUser });
createRateLimitTRPC({ t, limiter, key: async ({ ctx }) => ctx.userId || null });

const anonymous = initTRPC.context<{ userId?: string }>().create();
// @ts-expect-error without a user id, all visitors would share one bucket
createRateLimitTRPC({ t: anonymous, limiter, key: ({ ctx }) => ctx.userId });
// @ts-expect-error the same in a promise
createRateLimitTRPC({ t: anonymous, limiter, key: async ({ ctx }) => ctx.userId });
createRateLimitTRPC({ t: anonymous, limiter, key: ({ ctx }) => ctx.userId ?? SHARED_BUCKET });
const visitors = createRateLimitTRPC({ t: anonymous, limiter, key: SHARED_BUCKET });
// @ts-expect-error without a user id, all visitors would share one bucket
anonymous.procedure.use(visitors.rateLimited("signUp", { key: ({ ctx }) => ctx.userId }));
anonymous.procedure.use(visitors.rateLimited("signUp", { key: ({ ctx }) => ctx.userId ?? null }));
anonymous.procedure.use(visitors.rateLimited("signUp", { key: SHARED_BUCKET }));

// @ts-expect-error a context without that field
createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.teamId });
// @ts-expect-error a bucket that all callers share is said as such
createRateLimitTRPC({ t, limiter });

/** Only some limits are for clients. */
const partly = createRateLimitTRPC({ t, limiter, key: byUser, expose: ["signUp"] });
t.procedure.use(partly.rateLimited("sendMessage"));
export const partlyRouter = t.router({ rateLimit: partly.router });
export type PartlyRouter = typeof partlyRouter;
// @ts-expect-error a name that the limiter does not have
createRateLimitTRPC({ t, limiter, key: byUser, expose: ["signup"] });

export const appRouter = t.router({
  rateLimit: rl.router,
  nested: t.router({ limits: rl.router }),
  send: t.procedure.use(rl.rateLimited("sendMessage")).mutation(({ ctx }) => {
    assert<Equal<typeof ctx.userId, string>>();
    assert<Equal<typeof ctx.rateLimit.ok, true>>();
    assert<Equal<typeof ctx.rateLimit.retryAfter, number | undefined>>();
    return ctx.rateLimit.value;
  }),
});
export type AppRouter = typeof appRouter;

const withSession = t.procedure.use(({ next }) => next({ ctx: { session: { plan: "free" } } }));
const text = z.object({ text: z.string() });

withSession
  .input(text)
  .use(
    rl.rateLimited("sendMessage", {
      key: ({ ctx }) => ctx.session.plan,
      count: async ({ input }) => input.text.length,
      config: ({ name, path }) => (name === path ? inline : undefined),
      on: (error) => error.code === "UNAUTHORIZED",
      resetOnSuccess: true,
    }),
  )
  .use(rl.rateLimited(["sendMessage", "signUp"], { count: ({ input }) => input.text.length }))
  .mutation(({ ctx, input }) => {
    assert<Equal<typeof ctx.rateLimit.results, RateLimitResult[]>>();
    assert<Equal<typeof ctx.session, { plan: string }>>();
    return input.text;
  });

// @ts-expect-error an input that the procedure does not have
t.procedure.input(text).use(rl.rateLimited("signUp", { count: ({ input }) => input.length }));
// @ts-expect-error before `.input`, the input has no type
t.procedure.use(rl.rateLimited("signUp", { count: ({ input }) => input.text.length })).input(text);
// @ts-expect-error a context that no middleware has added
t.procedure.use(rl.rateLimited("signUp", { key: ({ ctx }) => ctx.session.plan }));
// @ts-expect-error one of several names is misspelt
t.procedure.use(rl.rateLimited(["signUp", "sendMesage"]));
// @ts-expect-error a transaction is charged for every call
t.procedure.use(rl.rateLimited.transaction("signUp", { on: "error" }));

const prisma = new PrismaClient({} as never);
const onPrisma = createRateLimitTRPC({
  t,
  key: byUser,
  limiter: createRateLimiter({ store: prismaStore(prisma), limits: limiter.limits }),
});
t.procedure.use(onPrisma.rateLimited.transaction("signUp")).mutation(({ ctx }) => {
  assert<Equal<typeof ctx.tx, TransactionOf<PrismaClient>>>();
  return ctx.tx.rateLimit.count();
});
/** A procedure that another part of the application takes in with `.concat`. */
const limited = t.procedure.use(rl.rateLimited("signUp"));
withSession.concat(limited).query(({ ctx }) => [ctx.session.plan, ctx.rateLimit.value]);

export function narrow(error: unknown) {
  if (!isRateLimitError(error)) return undefined;
  const { retryAfter, name } = error.data.rateLimit;
  assert<Equal<typeof retryAfter, number>>();
  assert<Equal<typeof name, string>>();
  return retryAfter;
}

/** The names of the limits are known in every entry of a denial. */
export function readDenials(error: unknown) {
  if (!isRateLimitError<keyof typeof limiter.limits>(error)) return undefined;
  const [denial] = error.data.rateLimit.denials ?? [];
  assert<Equal<NonNullable<typeof denial>["name"], "sendMessage" | "signUp">>();
  // @ts-expect-error a name that the limiter does not have
  return denial?.name === "sendMesage" ? undefined : denial?.retryAfter;
}
