/** A limit whose numbers each visitor chooses, and a procedure that does nothing but take tokens. */
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { configOfChoice } from "./chosen-config.js";
import { BOUNDS, playgroundLimits } from "./limits.js";

export function playgroundRouter({ t, rl, limiter, prisma }: App) {
  const choice = z.object({
    kind: z.enum(["token bucket", "fixed window"]),
    rate: z.number(),
    period: z.number(),
    capacity: z.number(),
    shards: z.number(),
    blockFor: z.number().optional(),
  });
  const wanted = z.object({
    count: z.number().min(BOUNDS.count.min).max(BOUNDS.count.max),
    reserve: z.boolean(),
  });
  /** The rows of any choice: one with fewer shards has some of these. */
  const allShards = { ...playgroundLimits.playground, shards: BOUNDS.shards.max };

  return t.router({
    choose: t.procedure.input(choice).mutation(async ({ ctx, input }) => {
      const playground = JSON.stringify(configOfChoice(input));
      await prisma.visitor.upsert({
        where: { id: ctx.visitor },
        create: { id: ctx.visitor, playground },
        update: { playground },
      });
      // Limit: tokens mean something else in a limit of another kind, so start with a full one.
      await limiter.reset("playground", { key: ctx.visitor, config: allShards });
    }),
    // tRPC reserves the name `call`.
    take: t.procedure
      .input(wanted)
      // Limit: the visitor says how many tokens, and whether to reserve those still to come.
      .use(
        rl.rateLimited("playground", {
          count: ({ input }) => input.count,
          reserve: ({ input }) => input.reserve,
        }),
      )
      .mutation(({ ctx }) => {
        const { value, ts, retryAfter } = ctx.rateLimit;
        return { value, ts, retryAfter, now: limiter.clock() };
      }),
  });
}
