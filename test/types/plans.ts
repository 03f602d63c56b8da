/** Code of plans on the server that must and must not compile. `tsc` checks it; it never runs. */
import { initTRPC } from "@trpc/server";
import { createRateLimiter, memoryStore, MINUTE, type RateLimiter } from "trpc-rate-limit/server";
import { createRateLimitTRPC, type PlanForCaller, SHARED_BUCKET } from "trpc-rate-limit/trpc";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const store = memoryStore();
const plans = ["free", "pro"] as const;
const limits = {
  pictures: { kind: "fixed window", period: "month", timeZone: "UTC", plans: { free: 5, pro: 50 } },
  tokens: { kind: "token bucket", period: MINUTE, plans: { free: "none", pro: { rate: 9 } } },
  signUp: { kind: "fixed window", rate: 100, period: MINUTE, start: 0 },
} as const;
const byCall = createRateLimiter({ store, plans, limits });
const byLimiter = createRateLimiter({ store, plans, limits, plan: async () => "pro" as const });
const without = createRateLimiter({ store, limits: { signUp: limits.signUp } });

const t = initTRPC.context<{ userId: string }>().create();
type User = { userId: string };
const shared = SHARED_BUCKET;

createRateLimitTRPC({
  t,
  key: shared,
  limiter: byCall,
  plan: ({ ctx, name, key }) => {
    assert<Equal<typeof ctx, User>>();
    assert<Equal<typeof name, "pictures" | "tokens">>();
    assert<Equal<typeof key, string | undefined>>();
    return ctx.userId === "admin" ? "pro" : "free";
  },
});
/** Resolvers on their own, as the application's other functions. */
const planOf = async ({ ctx }: { ctx: User }) => (ctx.userId === "admin" ? "pro" : "free");
createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: planOf });
const typed: PlanForCaller<User, "pictures" | "tokens", "free" | "pro"> = () => "pro";
const rl = createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: typed });
// @ts-expect-error nothing says the plan
createRateLimitTRPC({ t, key: shared, limiter: byCall });
createRateLimitTRPC({ t, key: shared, limiter: byLimiter });
createRateLimitTRPC({ t, key: shared, limiter: byLimiter, plan: planOf });
createRateLimitTRPC({ t, key: shared, limiter: without });
// @ts-expect-error a plan is returned by a function
createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: "pro" });
// @ts-expect-error no such plan
createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: () => "por" });
// @ts-expect-error the same in a promise
createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: async () => "por" });
// @ts-expect-error a caller without a plan
createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: () => undefined });
createRateLimitTRPC({
  t,
  key: shared,
  limiter: byCall,
  // @ts-expect-error a context without that field
  plan: ({ ctx }) => ctx.plan,
});
createRateLimitTRPC({
  t,
  key: shared,
  limiter: byCall,
  // @ts-expect-error a limit without plans
  plan: ({ name }) => (name === "signUp" ? "pro" : "free"),
});
// @ts-expect-error the plans are in the limits, and no config is said here
createRateLimitTRPC({ t, key: shared, limiter: byCall, plan: typed, config: () => limits.signUp });

t.procedure.use(rl.rateLimited("pictures", { plan: "pro" }));
t.procedure.use(rl.rateLimited("pictures", { plan: ({ ctx }) => (ctx.userId ? "pro" : "free") }));
// @ts-expect-error no such plan
t.procedure.use(rl.rateLimited("pictures", { plan: "por" }));
t.procedure.use(rl.rateLimited.first(["pictures", "tokens"], { plan: "pro" }));
// @ts-expect-error no such plan
t.procedure.use(rl.rateLimited.first(["pictures", "tokens"], { plan: "por" }));

/** A page of prices. */
assert<Equal<keyof typeof byCall.plans, "free" | "pro">>();
assert<Equal<(typeof byCall.plans)["free"]["tokens"], "none">>();
assert<Equal<(typeof byCall.plans)["pro"]["tokens"]["kind"], "token bucket">>();
assert<Equal<keyof (typeof byCall.plans)["pro"], "pictures" | "tokens">>();

/** Items of several limits, and a function that is generic in the limiter. */
export const read = () => [
  byCall.snapshots([{ name: "pictures", plan: "pro" }, { name: "signUp" }]),
  // @ts-expect-error a limit with plans
  byCall.snapshots([{ name: "pictures" }, { name: "signUp" }]),
  byLimiter.snapshots([{ name: "pictures" }, { name: "signUp" }]),
  byCall.limitAll([{ name: "pictures", plan: "pro" }, { name: "signUp" }]),
  // @ts-expect-error a limit with plans
  byCall.limitAll([{ name: "pictures" }, { name: "signUp" }]),
  byCall.limitAll([{ name: "signUp" }, { first: ["pictures", "signUp"], plan: "pro" }]),
  byCall.limitAll([{ first: [{ name: "pictures", plan: "pro" }, "signUp"] }]),
  // @ts-expect-error a limit with plans inside a first
  byCall.limitAll([{ name: "signUp" }, { first: ["pictures", "signUp"] }]),
  // @ts-expect-error no such plan
  byCall.limitAll([{ name: "signUp" }, { first: ["pictures"], plan: "por" }]),
  byLimiter.limitAll([{ name: "signUp" }, { first: ["pictures", "signUp"] }]),
];
export const take = (limiter: RateLimiter) => limiter.limit("any");
