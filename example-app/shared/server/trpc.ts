/** tRPC, bound to the limiter. Each part of the page builds its procedures with these. */
import { initTRPC } from "@trpc/server";
import { createRateLimitTRPC, formatRateLimitError, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { createStatistics } from "../../behind/statistics.js";
import { SHOWN } from "../../control-room/limits.js";
import { keepOperators } from "../../control-room/operators.js";
import { ACCOUNT, logInKey, requestedLogInKey } from "../../log-in/limits.js";
import type { PrismaClient } from "../generated/prisma/client.js";
import { createLimiter } from "./limiter.js";

export interface Context {
  visitor: string;
  /** The number of the server's process that answers, from 1. */
  process: number;
}

export type App = ReturnType<typeof createTRPC>;

export function createTRPC(prisma: PrismaClient) {
  const statistics = createStatistics();
  const limiter = createLimiter(prisma, statistics);
  const operators = keepOperators(prisma);
  const t = initTRPC.context<Context>().create({
    // Limit: a denial names its limit and the wait, which the hooks read.
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
    sse: {
      ping: { enabled: true, intervalMs: 5_000 },
      client: { reconnectAfterInactivityMs: 10_000 },
    },
    // A prompt may wait for minutes. Proxies close connections on which nothing is sent.
    jsonl: { pingMs: 5_000 },
  });

  const rl = createRateLimitTRPC({
    t,
    limiter,
    // Limit: the bucket of a caller, for the procedures and for the hooks alike.
    key({ ctx, name, requested }) {
      if (name === "signUp") return SHARED_BUCKET;
      if (name === "logIn") return requestedLogInKey(requested, ctx.visitor);
      return ctx.visitor;
    },
    // Limit: who may look into the control room and act there, and on which limits.
    admin: {
      authorize: async ({ ctx, name }) =>
        (name === undefined || SHOWN.has(name)) && (await operators.has(ctx.visitor)),
      actor: ({ ctx }) => ctx.visitor,
    },
  });
  return { prisma, limiter, t, rl, statistics, operators };
}

/** The keys of all buckets that belong to one visitor alone. */
export function keysOf(visitor: string): readonly string[] {
  return [visitor, logInKey(ACCOUNT, visitor)];
}
