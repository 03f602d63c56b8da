import { initTRPC } from "@trpc/server";
import { createRateLimiter, memoryStore, MINUTE } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
import { z } from "zod";

const limiter = createRateLimiter({
  // In an application: the store of your database, such as prismaStore(prisma).
  store: memoryStore(),
  limits: {
    // 3 at once, and then one every 6 seconds.
    sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  },
});

const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
const messages: string[] = [];

export const appRouter = t.router({
  // What the hooks read.
  rateLimit: rl.router,
  send: t.procedure
    .input(z.object({ text: z.string() }))
    .use(rl.rateLimited("sendMessage"))
    .mutation(({ input }) => messages.push(input.text)),
});

export type AppRouter = typeof appRouter;
