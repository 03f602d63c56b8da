/** The middleware: charges limits for a procedure call, and refuses it when there is not enough. */
import type { TRPCError, TRPCMiddlewareFunction, TRPCProcedureType } from "@trpc/server";
import type { RateLimitConfig } from "../../core/config.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllResult } from "../limiter-types.js";

/** What a procedure call looks like to the functions among the options. */
export interface RateLimitedCall<TContext, TInput> {
  /** The limit in question, of those that the middleware charges. */
  name: string;
  /** With what earlier middleware has added. */
  ctx: TContext;
  /** Parsed when the middleware stands after `.input(…)`, else `undefined`. */
  input: TInput;
  path: string;
  type: TRPCProcedureType;
}

type OrFunction<TCall, TValue> = TValue | ((call: TCall) => TValue | Promise<TValue>);

export interface RateLimitedOptions<TContext, TInput> {
  /** For whom, instead of what the `key` of `createRateLimitTRPC` resolves to. */
  key?: OrFunction<RateLimitedCall<TContext, TInput>, string | undefined>;
  /** Tokens that a call takes. @default 1 */
  count?: OrFunction<RateLimitedCall<TContext, TInput>, number>;
  /** The limit's config for this call, such as a paying user's. */
  config?: OrFunction<RateLimitedCall<TContext, TInput>, RateLimitConfig | undefined>;
  /** Take tokens that are still to come; `ctx.rateLimit.retryAfter` then says when to do the work. */
  reserve?: OrFunction<RateLimitedCall<TContext, TInput>, boolean>;
}

export interface ChargeOnErrorOptions {
  /**
   * What costs: every call, or only those whose procedure fails, all or some of its errors. Calls
   * are charged before the procedure runs either way, and given back when it did not cost, so that
   * a hundred guesses at once get no further than one after the other.
   * @default "call"
   */
  on?: "call" | "error" | ((error: TRPCError) => boolean);
  /** Fill the bucket when the procedure succeeds, as after a log-in. @default false */
  resetOnSuccess?: boolean;
}

/** What a procedure finds at `ctx.rateLimit`: what was decided, always `ok`. */
export type Granted<TNames> = TNames extends string
  ? Extract<RateLimitResult, { ok: true }>
  : Extract<LimitAllResult, { ok: true }>;

type Overwrite<TContext, TOverrides> = object extends TOverrides
  ? TContext
  : Omit<TContext, keyof TOverrides> & TOverrides;
type Flat<TObject> = { [TKey in keyof TObject]: TObject[TKey] };
/** A context as earlier middleware leaves it. */
export type ContextWith<TContext, TOverrides> = Flat<Overwrite<TContext, TOverrides>>;

/**
 * Middleware for `.use(…)`. Put it after `.input(…)`: a call that is refused for its input then
 * consumes nothing, and the functions among the options see the input, typed.
 *
 * `names` is one limit, or several that are charged all or nothing in one round trip.
 *
 * Throws `TRPCError` `TOO_MANY_REQUESTS` with `data.rateLimit` when denied; see `toTRPCError`.
 */
export interface RateLimited<TContext, TMeta, TName extends string, TTransaction> {
  <TOverrides extends object, TInput, const TNames extends TName | readonly TName[]>(
    names: TNames,
    options?: RateLimitedOptions<ContextWith<TContext, TOverrides>, TInput> & ChargeOnErrorOptions,
  ): TRPCMiddlewareFunction<TContext, TMeta, TOverrides, { rateLimit: Granted<TNames> }, TInput>;

  /**
   * Charges, and runs the procedure, in one Serializable transaction of the database, which it finds
   * at `ctx.tx`. When it throws, its data and the tokens are rolled back together. After a conflict
   * with another transaction all of it runs again, so it should have no other effects. Not for
   * subscriptions, which outlive their call.
   */
  transaction<TOverrides extends object, TInput, const TNames extends TName | readonly TName[]>(
    names: TNames,
    options?: RateLimitedOptions<ContextWith<TContext, TOverrides>, TInput>,
  ): TRPCMiddlewareFunction<
    TContext,
    TMeta,
    TOverrides,
    { rateLimit: Granted<TNames>; tx: TTransaction },
    TInput
  >;
}
