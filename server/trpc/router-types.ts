/**
 * The type of the router. The type is written down, because TypeScript's own declaration would use names
 * of tRPC's newest version 11, which older versions do not have.
 */
import type {
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from "@trpc/server";
import type { RateLimitResult } from "../../core/decide.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { Item, Query } from "../live/live-inputs.js";
import type { BuiltRouter, DefaultErrorShape, Definition } from "./trpc-types.js";

/**
 * The router through which clients read limits. `TName` are the limits that clients may know.
 *
 * @example
 * const appRouter = t.router({ rateLimit: rl.router });
 *
 * const caller = appRouter.createCaller({ userId });
 * const snapshot = await caller.rateLimit.status({ name: "sendMessage" });
 */
export type RateLimitRouter<
  TContext extends object,
  TMeta extends object,
  TName extends string,
> = BuiltRouter<
  { ctx: TContext; meta: TMeta; errorShape: DefaultErrorShape; transformer: false },
  {
    status: TRPCQueryProcedure<Definition<TMeta, Query<TName>, RateLimitSnapshot<TName>>>;
    check: TRPCQueryProcedure<Definition<TMeta, Query<TName>, RateLimitResult>>;
    watch: TRPCSubscriptionProcedure<
      Definition<
        TMeta,
        { items: Item<TName>[]; stream?: string | undefined },
        AsyncIterable<RateLimitSnapshot<TName>, void, undefined>
      >
    >;
    limit: TRPCMutationProcedure<
      Definition<TMeta, Query<TName> & { reserve?: boolean | undefined }, RateLimitResult>
    >;
    reset: TRPCMutationProcedure<Definition<TMeta, Item<TName>, void>>;
  }
>;
