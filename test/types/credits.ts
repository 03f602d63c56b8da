/** Code of credits and `limitFirst` that must and must not compile. `tsc` checks it; it never runs. */
import { initTRPC } from "@trpc/server";
import { predictFirst, type PredictableLimit } from "trpc-rate-limit/client";
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";
import { createRateLimitTRPC } from "trpc-rate-limit/trpc";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const store = memoryStore();
const limiter = createRateLimiter({
  store,
  limits: {
    plan: { kind: "token bucket", rate: 10, period: MINUTE },
    daily: { kind: "fixed window", rate: 10, period: MINUTE },
    credits: { kind: "credits" },
    stamps: { kind: "credits", capacity: 10, shadow: true },
  },
});

// @ts-expect-error credits have no period
createRateLimiter({ store, limits: { a: { kind: "credits", period: MINUTE } } });
// @ts-expect-error credits have no shards
createRateLimiter({ store, limits: { a: { kind: "credits", shards: 2 } } });
// @ts-expect-error credits have no blocks
createRateLimiter({ store, limits: { a: { kind: "credits", blockFor: MINUTE } } });
// @ts-expect-error credits are not owed
createRateLimiter({ store, limits: { a: { kind: "credits", maxReserved: 2 } } });
// @ts-expect-error credits are not leased
createRateLimiter({ store, limits: { a: { kind: "credits", lease: { ms: 50 } } } });
// @ts-expect-error no tokens come by themselves
createRateLimiter({ store, limits: { a: { kind: "credits", rate: 10 } } });

void limiter.credit("credits", { key: "k", count: 1, once: "payment" });
void limiter.credit("stamps", { count: 1 });
// @ts-expect-error a plan refills by itself
void limiter.credit("plan", { key: "k", count: 1 });
// @ts-expect-error how many?
void limiter.credit("credits", { key: "k" });

void limiter.limitFirst(["plan", "credits"], { key: "k", count: 2 });
void limiter.limitFirst([{ name: "plan", key: "k" }, "credits"], { split: true });
// @ts-expect-error no such limit
void limiter.limitFirst(["plan", "other"]);
// @ts-expect-error limits that pay together have one count
void limiter.limitFirst([{ name: "plan", count: 2 }, "credits"], { split: true });
// @ts-expect-error who pays does not wait
void limiter.limitFirst(["plan", "credits"], { reserve: true });
void (async () => {
  const result = await limiter.limitFirst(["plan", { name: "credits", count: 2 }]);
  if (result.ok) assert<Equal<(typeof result.paid)[number]["name"], "plan" | "credits">>();
  else assert<Equal<typeof result.name, "plan" | "credits">>();
  await limiter.settle(result, 3);
  await limiter.refund(result, { count: 1 });
  await limiter.transaction(async ({ limitFirst, credit }) => {
    await credit("credits", { count: 1 });
    return limitFirst(["plan", "credits"]);
  });
});

void (async () => {
  const key = "k";
  const answer = await limiter.limitAll([
    { name: "daily", key },
    { first: ["plan", { name: "credits", count: 2 }], key, count: 3 },
  ]);
  const [daily, paid] = answer.results;
  if (daily.ok) assert<Equal<typeof daily.value, number>>();
  if (paid.ok) assert<Equal<(typeof paid.paid)[number]["name"], "plan" | "credits">>();
  // @ts-expect-error an item has one result
  await limiter.settle(answer.results[2], 3);
  await limiter.settle(answer, 3);
  await limiter.settle(answer, { daily: 1, credits: 3 });
  await limiter.settle(paid, 3);
  await limiter.transaction(({ limitAll }) => limitAll([{ first: ["plan", "credits"] }]));
});
// @ts-expect-error no such limit
void limiter.limitAll([{ name: "daily" }, { first: ["plan", "other"] }]);
// @ts-expect-error no such limit
void limiter.limitAll([{ name: "dayly" }, { first: ["plan", "credits"] }]);
// @ts-expect-error a misspelt option
void limiter.limitAll([{ first: ["plan", "credits"], cuont: 2 }]);
// @ts-expect-error a misspelt option beside a first
void limiter.limitAll([{ name: "daily", cuont: 2 }, { first: ["plan", "credits"] }]);
// @ts-expect-error who pays does not wait
void limiter.limitAll([{ first: ["plan", "credits"], reserve: true }]);
// @ts-expect-error one limit, or several
void limiter.limitAll([{ name: "daily", first: ["plan", "credits"] }]);

const t = initTRPC.context<{ userId: string }>().create();
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
t.procedure
  .use(rl.rateLimited.first(["plan", "credits"], { count: 2, split: true, on: "success" }))
  .mutation(({ ctx }) => {
    assert<Equal<(typeof ctx.rateLimit.paid)[number]["name"], "plan" | "credits">>();
    return ctx.rateLimit.settle(1);
  });
t.procedure
  .use(
    rl.rateLimited(["daily", { first: ["plan", "credits"], split: true }], {
      count: ({ name }) => (name === "daily" ? 1 : 5),
      on: "success",
    }),
  )
  .mutation(({ ctx }) => {
    const [daily, paid] = ctx.rateLimit.results;
    if (daily.ok) assert<Equal<typeof daily.value, number>>();
    if (paid.ok) assert<Equal<(typeof paid.paid)[number]["name"], "plan" | "credits">>();
    // @ts-expect-error a limit that was not charged
    void ctx.rateLimit.settle({ stamps: 1 });
    return ctx.rateLimit.settle({ daily: 1, credits: 4 });
  });
rl.rateLimited.transaction([{ first: ["plan", "credits"] }]);
// @ts-expect-error no such limit
rl.rateLimited(["daily", { first: ["plan", "other"] }]);
// @ts-expect-error no such limit
rl.rateLimited(["other", { first: ["plan", "credits"] }]);
// @ts-expect-error a list
rl.rateLimited({ first: ["plan", "credits"] });
// @ts-expect-error no such limit
rl.rateLimited.first(["plan", "other"]);
// @ts-expect-error a list
rl.rateLimited.first("plan");
// @ts-expect-error who pays does not wait
rl.rateLimited.first(["plan"], { reserve: true });

declare const shown: PredictableLimit;
const predicted = predictFirst({ plan: shown, credits: shown }, { count: { credits: 2 } });
assert<Equal<NonNullable<typeof predicted>["paid"][number]["name"], "plan" | "credits">>();
// @ts-expect-error no such limit
predictFirst({ plan: shown }, { count: { other: 2 } });
