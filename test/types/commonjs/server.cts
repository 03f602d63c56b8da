/** Code that must compile in a server that becomes CommonJS: the middleware, and what it adds to `ctx`. */
import { initTRPC, TRPCError } from "@trpc/server";
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "trpc-rate-limit/trpc";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { z } from "zod";

export const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    send: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    logIn: { kind: "fixed window", rate: 5, period: MINUTE },
    render: { kind: "concurrency", slots: 2 },
  },
});
const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
// @ts-expect-error a context without that field
createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.teamId });

export const limited = t.procedure.use(rl.rateLimited("send"));
const withPlan = t.procedure.use(({ next }) => next({ ctx: { plan: "free" } }));
const text = z.object({ text: z.string() });

export const appRouter = t.router({
  rateLimit: rl.router,
  send: withPlan
    .input(text)
    .use(
      rl.rateLimited("send", {
        key: ({ ctx }) => ctx.plan,
        count: ({ input }) => input.text.length,
      }),
    )
    .mutation(({ ctx, input }) => `${ctx.plan} ${input.text} ${ctx.rateLimit.value.toFixed()}`),
  logIn: limited
    .use(rl.rateLimited("logIn", { on: (error) => error.code === "UNAUTHORIZED" }))
    .mutation(({ ctx }): number => {
      if (ctx.rateLimit.ok) return ctx.rateLimit.value;
      throw new TRPCError({ code: "UNAUTHORIZED" });
    }),
  both: t.procedure
    .use(rl.rateLimited(["send", "render"]))
    .mutation(({ ctx }) => [ctx.rateLimit.results.length, ctx.rateLimit.signal?.aborted]),
  first: t.procedure
    .use(rl.rateLimited.first(["send", "logIn"]))
    .mutation(({ ctx }) => ctx.rateLimit.paid.map(({ name }) => name)),
  inTransaction: t.procedure
    .use(rl.rateLimited.transaction("send"))
    .mutation(({ ctx }) => ctx.rateLimit.settle(1)),
});
export type AppRouter = typeof appRouter;

// @ts-expect-error a misspelt name
t.procedure.use(rl.rateLimited("sedn"));

export const server = createHTTPServer({
  router: appRouter,
  createContext: () => ({ userId: "ann" }),
  responseMeta: rateLimitResponseMeta,
});
