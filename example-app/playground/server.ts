/** A limit whose numbers each visitor chooses, and a procedure that does nothing but take tokens. */
import { TRPCError } from "@trpc/server";
import type { RateLimitConfigError } from "trpc-rate-limit/server";
import { z } from "zod";
import type { App } from "../shared/server/trpc.js";
import { configOfChoice, type PlaygroundChoice } from "./choice.js";
import { BOUNDS } from "./limits.js";

/** Needs neither Node.js nor a database, so it also runs in a browser. */
export interface PlaygroundApp extends Pick<App, "t" | "rl"> {
  limiter: Pick<App["limiter"], "reset" | "clock" | "overrides">;
}

export function playgroundRouter({ t, rl, limiter }: PlaygroundApp) {
  const choice = z.object({
    kind: z.enum(["token bucket", "fixed window"]),
    rate: z.number(),
    period: z.union([z.number(), z.literal("month")]),
    capacity: z.number(),
    shards: z.number(),
    blockFor: z.number().optional(),
  });
  const change = choice.extend({
    /** Whether the bucket goes on with what was used of it. */
    keepsTokens: z.boolean().default(false),
  });
  const wanted = z.object({
    count: z.number().min(BOUNDS.count.min).max(BOUNDS.count.max),
    reserve: z.boolean(),
  });

  return t.router({
    choose: t.procedure
      .input(change)
      // Limit: a choice writes rows, so a program may not make thousands of them.
      .use(rl.rateLimited("playgroundChoices"))
      .mutation(async ({ ctx, input: { keepsTokens, ...input } }) => {
        const key = ctx.visitor;
        const config = accept(input);
        // Limit: tokens mean something else in a limit of another kind, so start with a full bucket.
        if (!keepsTokens) await limiter.reset("playground", { key });
        // Limit: from now on, this config counts for the visitor, in calls and on open pages.
        await limiter.overrides.set("playground", { key, config });
      }),
    // tRPC reserves the name `call`.
    take: t.procedure
      .input(wanted)
      // Limit: the visitor says how many tokens, and whether to reserve tokens that are not there yet.
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

/** @throws TRPCError `BAD_REQUEST`, with a message that the form shows. */
function accept(choice: PlaygroundChoice) {
  try {
    return configOfChoice(choice);
  } catch (error) {
    const { message } = error as RateLimitConfigError;
    throw new TRPCError({ code: "BAD_REQUEST", message });
  }
}
