/**
 * Without `exactOptionalPropertyTypes`, as in most applications: a key that may be missing does not compile,
 * because it would take from the bucket that all callers share. `tsc` checks it; it never runs.
 */
import { initTRPC } from "@trpc/server";
import {
  createRateLimiter,
  type LimitOptions,
  memoryStore,
  MINUTE,
  type RateLimiter,
} from "trpc-rate-limit/server";
import { createRateLimitTRPC, SHARED_BUCKET } from "trpc-rate-limit/trpc";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    bucket: { kind: "token bucket", rate: 1, period: MINUTE, holds: true, usage: true },
    credits: { kind: "credits" },
    slots: { kind: "concurrency", slots: 1 },
  },
});
const planned = createRateLimiter({
  store: memoryStore(),
  plans: ["free", "pro"],
  limits: { pictures: { kind: "fixed window", period: "month", plans: { free: 5, pro: 50 } } },
});
declare const user: { id?: string } | undefined;
declare const options: LimitOptions;
const id = user?.id;
const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;

// What has a key, or says that it has none by leaving it out.
void limiter.limit("bucket");
void limiter.limit("bucket", {});
void limiter.limit("bucket", { key: "ann", count: 2 });
void limiter.limit("bucket", { count: 2 });
void limiter.limit("bucket", options);
void limiter.limit("bucket", { ...options, count: 1 });
void limiter.limit("bucket", id === undefined ? {} : { key: id });
void limiter.limit("bucket", { ...(id !== undefined && { key: id }), count: 1 });
void limiter.limit("elsewhere", { key: "ann", config });
void planned.limit("pictures", { key: "ann", plan: "pro" });
void limiter.limitAll([{ name: "bucket" }, { name: "credits", key: "ann" }]);
const items = ["a", "b"].map((key) => ({ name: "bucket" as const, key }));
void limiter.limitAll(items);
void limiter.limitFirst(["bucket", { name: "credits", key: "ann" }], { key: "bob" });
void limiter.enter("slots", { key: "ann" });
export function generic<TKey extends string>(key: TKey) {
  return limiter.limit("bucket", { key, throws: true });
}
declare const untyped: RateLimiter;
void untyped.limit("any", { key: "ann" });

// @ts-expect-error a missing user is not the shared bucket
void limiter.limit("bucket", { key: undefined });
// @ts-expect-error nor a user who may be missing
void limiter.limit("bucket", { key: id });
// @ts-expect-error with a config, too
void limiter.limit("elsewhere", { key: id, config });
// @ts-expect-error and with a plan
void planned.limit("pictures", { key: id, plan: "pro" });
// @ts-expect-error
void limiter.check("bucket", { key: id });
// @ts-expect-error
void limiter.acquire("bucket", { key: id });
// @ts-expect-error
void limiter.charge("bucket", { key: id, count: 2 });
// @ts-expect-error
void limiter.credit("credits", { key: id, count: 2 });
// @ts-expect-error
void limiter.refund("bucket", { key: id });
// @ts-expect-error
void limiter.reset("bucket", { key: id });
// @ts-expect-error
void limiter.getValue("bucket", { key: id });
// @ts-expect-error
void limiter.observe("bucket", { key: id, remaining: 1 });
// @ts-expect-error
void limiter.settle("bucket", { key: id, once: "a" }, 1);
// @ts-expect-error
void limiter.release("bucket", { key: id, once: "a" });
// @ts-expect-error
void limiter.holds("bucket", { key: id });
// @ts-expect-error
void limiter.usage("bucket", { key: id, month: "2030-04" });
// @ts-expect-error
limiter.configOf("bucket", { key: id });
// @ts-expect-error
void limiter.snapshots([{ name: "bucket", key: id }]);
// @ts-expect-error
void limiter.enter("slots", { key: id });
// @ts-expect-error
void limiter.limitFirst(["bucket"], { key: id });
// @ts-expect-error
void limiter.limitFirst([{ name: "bucket", key: id }]);
// @ts-expect-error
void limiter.limitAll([{ name: "bucket", key: id }]);
void limiter.transaction(async ({ limit }) => {
  // @ts-expect-error in a transaction, too
  await limit("bucket", { key: id });
});
// @ts-expect-error options are still known by their names
void limiter.limit("bucket", { keyy: "ann" });

const t = initTRPC.context<{ userId?: string }>().create();
createRateLimitTRPC({ t, limiter, key: SHARED_BUCKET });
createRateLimitTRPC({ t, limiter, key: () => SHARED_BUCKET });
createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId ?? null });
// @ts-expect-error whose bucket?
createRateLimitTRPC({ t, limiter });
// @ts-expect-error
createRateLimitTRPC({ t, limiter, key: undefined });
// @ts-expect-error
createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
