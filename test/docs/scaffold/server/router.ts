import { initTRPC } from "@trpc/server";
import { createRateLimiter, MINUTE, prismaStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
import { z } from "zod";
import { prisma } from "./prisma.js";

const limiter = createRateLimiter({
  store: prismaStore(prisma),
  limits: {
    // 3 at once, and then one every 6 seconds: rate + capacity, so 13, in any minute at most.
    sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  },
});

const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });

export const appRouter = t.router({
  rateLimit: rl.router,
  send: t.procedure
    .input(z.object({ text: z.string() }))
    .use(rl.rateLimited("sendMessage"))
    .mutation(({ ctx, input }) =>
      prisma.message.create({ data: { visitor: ctx.userId, text: input.text } }),
    ),
});
export type AppRouter = typeof appRouter;
