/** The middleware: charges a limit before the procedure runs, and refuses it when there is none. */
import type { TRPCProcedureType } from "@trpc/server";
import type { RateLimitConfig } from "../../core/config.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { UntypedRateLimiter } from "../limiter-types.js";
import { throwingTRPCErrors } from "./errors.js";
import { type KeyResolver, resolveKey } from "./key.js";

/** What a procedure call looks like to the functions among the options. */
export interface RateLimitedCall<TContext> {
  ctx: TContext;
  /** Parsed when the middleware stands after `.input(…)`, else `undefined`. */
  input: unknown;
  path: string;
  type: TRPCProcedureType;
}

type OrFunction<TContext, TValue> = TValue | ((call: RateLimitedCall<TContext>) => TValue);

export interface RateLimitedOptions<TContext> {
  /** For whom, instead of what the `key` of `createRateLimitTRPC` resolves to. */
  key?: (call: RateLimitedCall<TContext>) => string | undefined | Promise<string | undefined>;
  /** Tokens that a call takes. @default 1 */
  count?: OrFunction<TContext, number>;
  /** The limit's config for this call, such as a paying user's. */
  config?: OrFunction<TContext, RateLimitConfig | undefined>;
  /** Take tokens that are still to come; `ctx.rateLimit.retryAfter` then says when to do the work. */
  reserve?: boolean;
}

/**
 * Charges one call.
 *
 * @returns what was decided, always `ok`.
 * @throws TRPCError `TOO_MANY_REQUESTS` with `data.rateLimit` when denied; see `toTRPCError`.
 */
export async function charge<TContext, TName extends string>(
  limiter: UntypedRateLimiter,
  resolver: KeyResolver<TContext, TName> | undefined,
  name: TName,
  options: RateLimitedOptions<TContext>,
  call: RateLimitedCall<TContext>,
): Promise<RateLimitResult> {
  const { count, config, reserve } = options;
  return throwingTRPCErrors(async () => {
    const key = options.key
      ? await options.key(call)
      : await resolveKey(resolver, call.ctx, name, undefined);
    return limiter.limit(name, {
      key,
      count: typeof count === "function" ? count(call) : count,
      config: typeof config === "function" ? config(call) : config,
      reserve,
      throws: true,
    });
  });
}
