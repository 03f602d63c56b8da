/** Exports of an application's server, as the pages show them, without types of their own. */
import { initTRPC } from "@trpc/server";
import {
  betterAuthPlugin,
  betterAuthStorage,
  createRateLimiter,
  lazyStore,
  memoryStore,
  MINUTE,
  pgStore,
  rateLimitHeaders,
  rateLimitResponse,
} from "trpc-rate-limit/server";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "trpc-rate-limit/trpc";
import { createFakeRateLimits, createManualClock } from "trpc-rate-limit/testing";
import { Pool } from "pg";
import { z } from "zod";

export const clock = createManualClock();
export const fake = createFakeRateLimits();
export const store = pgStore(new Pool());
export const lazy = lazyStore(() => store);
export const limiter = createRateLimiter({
  store,
  limits: {
    send: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    logIn: { kind: "fixed window", rate: 5, period: MINUTE },
    render: { kind: "concurrency", slots: 2 },
    credits: { kind: "credits", capacity: 100 },
  },
  overrides: true,
});
export const inMemory = createRateLimiter({ store: memoryStore(), limits: limiter.limits });

export const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
export const rl = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx }) => ctx.userId,
  admin: { authorize: ({ action }) => action === "view" },
});
export const { rateLimited, router, admin } = rl;
export const endListening = limiter.onDecision(() => {});

export const limited = t.procedure.use(rl.rateLimited("send"));
export const several = t.procedure.use(rl.rateLimited(["send", "logIn"]));
export const withSlot = t.procedure.use(rl.rateLimited(["render", "send"], { maxWait: 1000 }));
export const first = t.procedure.use(rl.rateLimited.first(["send", "credits"]));
export const inTransaction = t.procedure.use(rl.rateLimited.transaction("send"));
export const middleware = rl.rateLimited("send");
export const afterInput = t.procedure
  .input(z.object({ text: z.string() }))
  .use(rl.rateLimited("send", { count: ({ input }) => input.text.length, on: "success" }));
export const appRouter = t.router({
  rateLimit: rl.router,
  send: limited.mutation(({ ctx }) => ctx.rateLimit),
  several: several.mutation(({ ctx }) => ctx.rateLimit.results),
  first: first.mutation(({ ctx }) => ctx.rateLimit.paid),
  withSlot: withSlot.mutation(({ ctx }) => ctx.rateLimit.signal?.aborted),
  inTransaction: inTransaction.mutation(({ ctx }) => ctx.tx),
});
export type AppRouter = typeof appRouter;
export const caller = appRouter.createCaller({ userId: "ann" });

export const limit = () => limiter.limit("send", { key: "ann" });
export const check = () => limiter.check("send");
export const limitAll = () => limiter.limitAll([{ name: "send" }, { name: "logIn" }]);
export const limitFirst = () => limiter.limitFirst(["send", "credits"], { count: 2 });
export const credit = () => limiter.credit("credits", { count: 1 });
export const charge = () => limiter.charge("send", { count: 2 });
export const acquire = () => limiter.acquire("send");
export const enter = () => limiter.enter("render", { maxWait: 1000 });
export const getValue = () => limiter.getValue("send");
export const refund = () => limiter.refund("send");
export const list = () => limiter.list("send", { denied: true });
export const snapshots = () => limiter.snapshots([{ name: "send" }]);
export const configOf = () => limiter.configOf("send");
export const transaction = () => limiter.transaction(async (scope) => scope);
export const using = (tx: never) => limiter.using(tx);
export const { overrides } = limiter;
export const listOverrides = () => overrides.list();
export const setOverride = () => overrides.set("send", { times: 2 });
export const getOverride = () => overrides.get("send", {});

export const plugin = betterAuthPlugin(inMemory, {});
export const authStorage = betterAuthStorage(limiter);
export const headers = async () => rateLimitHeaders(await limit(), { limiter, name: "send" });
export const response = async () => rateLimitResponse(new Error("denied"));
export const meta = () => rateLimitResponseMeta({ info: undefined, errors: [] });
