import { initTRPC } from "@trpc/server";
import superjson from "superjson";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";
import { ZodError } from "zod";

import { db } from "~/server/db";
import { limiter } from "~/server/limiter";
import { userOf } from "~/server/session";

export const createTRPCContext = async (opts: { headers: Headers }) => {
  return {
    db,
    userId: userOf(opts.headers),
    ...opts,
  };
};

const t = initTRPC.context<typeof createTRPCContext>().create({
  transformer: superjson,
  sse: {
    ping: { enabled: true, intervalMs: 3_000 },
    client: { reconnectAfterInactivityMs: 10_000 },
  },
  errorFormatter({ shape, error }) {
    const limited = formatRateLimitError(shape, error, limiter);
    return {
      ...limited,
      data: {
        ...limited.data,
        zodError: error.cause instanceof ZodError ? error.cause.flatten() : null,
      },
    };
  },
});

export const { rateLimited, router: rateLimitRouter } = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx }) => ctx.userId,
});

export const createCallerFactory = t.createCallerFactory;

export const createTRPCRouter = t.router;

const timingMiddleware = t.middleware(async ({ next, path }) => {
  const start = Date.now();

  if (t._config.isDev) {
    // In development, a delay as long as a network's shows which requests wait for each other.
    const waitMs = Math.floor(Math.random() * 400) + 100;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  const result = await next();
  console.log(`[TRPC] ${path} took ${Date.now() - start}ms to execute`);

  return result;
});

export const publicProcedure = t.procedure.use(timingMiddleware);
