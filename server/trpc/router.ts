/** The router through which clients read limits. What it answers is that of `server/live`. */
import type { TRPCBuilder } from "@trpc/server";
import { LiveLimits, type LiveLimitsOptions } from "../live/live-limits.js";
import { throwingPublicErrors, toPublicError } from "./errors.js";
import type { RateLimitRouter } from "./router-types.js";
import { createRateLimitSchemas } from "./schemas.js";

export function createRateLimitRouter<
  TContext extends object,
  TMeta extends object,
  TName extends string,
>(
  t: Pick<ReturnType<TRPCBuilder<TContext, TMeta>["create"]>, "procedure" | "router">,
  options: LiveLimitsOptions<TContext, TName>,
): RateLimitRouter<TContext, TMeta, TName> {
  const schemas = createRateLimitSchemas(options.names);
  const live = new LiveLimits(options);
  const contextOf = (ctx: unknown) => ctx as TContext;

  return t.router({
    /** The state of one limit, for the client to calculate with. */
    status: t.procedure
      .input(schemas.query)
      .query(({ ctx, input }) => throwingPublicErrors(() => live.status(contextOf(ctx), input))),

    /** The answer that `limit` would give. Consumes nothing. */
    check: t.procedure
      .input(schemas.query)
      .query(({ ctx, input }) => throwingPublicErrors(() => live.check(contextOf(ctx), input))),

    /**
     * Snapshots of several limits: one snapshot of each limit at once, and a new snapshot after each
     * change.
     */
    watch: t.procedure.input(schemas.watch).subscription(async function* ({ ctx, input, signal }) {
      try {
        yield* live.watch(contextOf(ctx), input, signal);
      } catch (error) {
        throw toPublicError(error);
      }
    }),

    /** Consumes tokens, where `authorize` allows it. A denial is an answer, not an error. */
    limit: t.procedure
      .input(schemas.limit)
      .mutation(({ ctx, input }) => throwingPublicErrors(() => live.limit(contextOf(ctx), input))),

    /** Fills a bucket, where `authorize` allows it. */
    reset: t.procedure
      .input(schemas.reset)
      .mutation(({ ctx, input }) => throwingPublicErrors(() => live.reset(contextOf(ctx), input))),
  });
}
