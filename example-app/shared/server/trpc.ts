/** tRPC, bound to the limiter. Each part of the page builds its procedures with these. */
import { initTRPC } from "@trpc/server";
import { type RateLimitConfig } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { createStatistics } from "../../behind/statistics.js";
import { SHOWN } from "../../control-room/limits.js";
import { keepOperators } from "../../control-room/operators.js";
import { ACCOUNT, logInKey, requestedLogInKey } from "../../log-in/limits.js";
import { configOfTier } from "../../model/limits.js";
import { playgroundConfig } from "../../playground/chosen-config.js";
import { keepInPrisma } from "../../playground/keep-in-prisma.js";
import type { PrismaClient } from "../generated/prisma/client.js";
import { createLimiter } from "./limiter.js";

export interface Context {
  visitor: string;
  /** Which of the server's processes answers, from 1. */
  process: number;
}

export type App = ReturnType<typeof createTRPC>;

export function createTRPC(prisma: PrismaClient) {
  const statistics = createStatistics();
  const limiter = createLimiter(prisma, statistics);
  const operators = keepOperators(prisma);
  const playgroundConfigs = keepInPrisma(prisma);
  const t = initTRPC.context<Context>().create({
    // Limit: a denial says its limit and the wait, and the hooks read them.
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
    sse: {
      ping: { enabled: true, intervalMs: 5_000 },
      client: { reconnectAfterInactivityMs: 10_000 },
    },
    // A prompt may wait for minutes. Proxies close connections on which nothing is sent.
    jsonl: { pingMs: 5_000 },
  });

  async function configOf(visitor: string, name: string): Promise<RateLimitConfig | undefined> {
    if (name === "playground") return playgroundConfigs.load(visitor);
    if (name !== "llmTokens") return undefined;
    const chosen = await prisma.visitor.findUnique({ where: { id: visitor } });
    return chosen ? configOfTier(chosen.tier) : undefined;
  }

  const rl = createRateLimitTRPC({
    t,
    limiter,
    // Limit: the bucket of a caller, for the procedures and for the hooks alike.
    key({ ctx, name, requested }) {
      if (name === "signUp") return SHARED_BUCKET;
      if (name === "logIn") return requestedLogInKey(requested, ctx.visitor);
      return ctx.visitor;
    },
    // Limit: the numbers for a caller, by what the visitor has chosen.
    config: ({ ctx, name }) => configOf(ctx.visitor, name),
    // The demo is all about changes that are seen at once.
    keyInterval: 5_000,
    // Limit: who may look into the control room, and act there, and on which limits.
    admin: {
      authorize: async ({ ctx, name }) =>
        (name === undefined || SHOWN.has(name)) && (await operators.has(ctx.visitor)),
      actor: ({ ctx }) => ctx.visitor,
    },
  });
  return { prisma, limiter, t, rl, statistics, operators, configOf, playgroundConfigs };
}

/** The config by what a visitor has chosen. `undefined`: the limit's own. */
export function chosenConfig(
  name: string,
  { tier, playground }: { tier: string; playground: string },
): RateLimitConfig | undefined {
  if (name === "llmTokens") return configOfTier(tier);
  return name === "playground" ? playgroundConfig(playground) : undefined;
}

/** The keys of all buckets that are one visitor's alone. */
export function keysOf(visitor: string): readonly string[] {
  return [visitor, logInKey(ACCOUNT, visitor)];
}
