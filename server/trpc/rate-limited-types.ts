/** The types of the middleware that `createRateLimitTRPC` returns as `rateLimited`. */
import type { TRPCError, TRPCProcedureType } from "@trpc/server";
import type { MiddlewareFunction } from "./trpc-types.js";
import type { LimitConfig } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllResult } from "../limiter/types/limit-all.js";
import type { SettleResult } from "../limiter/types/settle.js";
import type { LimitFirstResult } from "../limiter/types/limit-first.js";
import type { HoldTerms } from "../limiter/types/hold-terms.js";
import type { KeyAnswer } from "../limiter/types/key-answer.js";

/** A procedure call, as the functions among the options receive it. */
export interface RateLimitedCall<TContext, TInput> {
  /** The limit that the option is for, of those that the middleware charges. */
  name: string;
  /** The context, with the additions of earlier middleware. */
  ctx: TContext;
  /** Parsed when the middleware stands after `.input(…)`, else `undefined`. */
  input: TInput;
  /** The dotted path of the procedure, such as `post.create`. */
  path: string;
  /** `"query"`, `"mutation"` or `"subscription"`. */
  type: TRPCProcedureType;
}

type OrFunction<TCall, TValue> = TValue | ((call: TCall) => TValue | Promise<TValue>);

/** What a call is charged, and to which bucket. */
export interface RateLimitedOptions<TContext, TInput, TPlan extends string = never> {
  /**
   * The key of the bucket; see `KeyAnswer`.
   * @default the result of the `key` of `createRateLimitTRPC`
   */
  key?:
    | Exclude<KeyAnswer, null>
    | ((call: RateLimitedCall<TContext, TInput>) => KeyAnswer | Promise<KeyAnswer>);
  /** Tokens that a call takes. @default 1 */
  count?: OrFunction<RateLimitedCall<TContext, TInput>, number>;
  /**
   * The plan of the call, for those of the limits that have plans. The router does not know this option,
   * so pages show the plan of `createRateLimitTRPC`. An answer that is no plan of the limiter fails the
   * call with `INTERNAL_SERVER_ERROR`, whose `cause` has the reason. Not with `config`.
   * @default the result of the `plan` of `createRateLimitTRPC`, or of the limiter's own
   */
  plan?: OrFunction<RateLimitedCall<TContext, TInput>, TPlan>;
  /**
   * The limit's config for this call, for what is no plan. `undefined` leaves the call to the limit's
   * own, or to the plan of its caller. The router does not know this option, so pages show the limit
   * without it. A config that is not valid fails the call with `INTERNAL_SERVER_ERROR`, whose `cause`
   * has the reason.
   * @default the limit's own, or that of the caller's plan
   */
  config?: OrFunction<RateLimitedCall<TContext, TInput>, LimitConfig | undefined>;
  /**
   * Take tokens that are still to come. `ctx.rateLimit.retryAfter` then says when to do the work.
   */
  reserve?: OrFunction<RateLimitedCall<TContext, TInput>, boolean>;
  /**
   * How long a call waits in line for a slot, ms: at least 0, or `Infinity`. Only with a limit of
   * `kind: "concurrency"`. The wait ends when the client goes away.
   * @default none: the call is denied at once where no slot is free
   */
  maxWait?: number | undefined;
  /**
   * The id of who holds the slot, such as one that a page has made up for its stream and sends again when
   * it reconnects: `({ input }) => input.stream`. A call with the id of a slot that is held takes that
   * slot over, and the stream before it ends with `CONFLICT`, after a third of the `ttl` at most. Without
   * it, a page whose connection has died is denied for as long as the server does not hear of that, and
   * tRPC's client then gives up. Only with a limit of `kind: "concurrency"`; see `holder` of `enter`.
   * @default none: each call has a slot of its own
   */
  holder?: ((call: RateLimitedCall<TContext, TInput>) => string | undefined) | undefined;
  /**
   * The id of the call, such as one that the client has sent: `({ input }) => input.nonce`. The same
   * id is charged once per limit and key; see `once` of `limit`. `ctx.rateLimit.repeated` then tells
   * the procedure that it has been asked before. The procedure runs again, so it has to do its work
   * once, too: by a unique column for the id. Else a client gets any number of calls for one id.
   * With several limits, it is asked for once, and `name` is the first of them. `undefined` is no id.
   * An id that no row can have is BAD_REQUEST. Not for limits with `shards`, and not with slots.
   */
  once?: (
    call: RateLimitedCall<TContext, TInput>,
  ) => string | undefined | Promise<string | undefined>;
  /**
   * Holds the tokens of the call until they are settled, at `ctx.rateLimit.settle` or by the id in any
   * process; see `hold` of `limit`. The id is that of `once`, and one of its own where there is none:
   * `ctx.rateLimit.once` has it, for a job that settles the call later. A procedure that fails without
   * settling leaves the hold to lapse, unless `on` gives its tokens back. Of several limits, those hold
   * their tokens that have `holds: true`.
   * @default none: the tokens are spent
   */
  hold?: HoldTerms | undefined;
}

/** The calls that are charged. */
export interface ChargeOnErrorOptions {
  /**
   * The calls that cost tokens: every call, every call without an error, every call with an error,
   * or every call with one of the errors for which the function returns true. Every call is charged
   * before its procedure runs, and the tokens of the others are given back afterwards. So a hundred
   * concurrent guesses get no further than a hundred guesses in a row.
   * @default "call"
   */
  on?: "call" | "success" | "error" | ((error: TRPCError) => boolean);
  /** Fill the bucket when the procedure succeeds, for example after a log-in. @default false */
  resetOnSuccess?: boolean;
}

/**
 * The result that a procedure finds at `ctx.rateLimit`. It is always `ok`.
 *
 * Its `settle` corrects the charge to the tokens that were really used, as `settle` of the limiter
 * does. For several limits, it takes the tokens by the names of the limits. It can be called after
 * the procedure has returned, at the end of a stream. It does not reject when the store fails: the
 * estimate stays charged, and `settled` is false. So it is where the use is not known: `undefined`,
 * `null` or `NaN`. In `rateLimited.transaction`, it is part of the transaction and rejects.
 */
export type Granted<TNames> = TNames extends string
  ? Extract<RateLimitResult, { ok: true }> & {
      settle(actual: number | null | undefined): Promise<SettleResult>;
    } & SlotOfCall &
      IdOfCall
  : Extract<LimitAllResult, { ok: true }> & {
      settle(actual: SettledCounts<TNames> | null | undefined): Promise<SettleResult>;
    } & SlotOfCall &
      IdOfCall;

/** What a procedure finds at `ctx.rateLimit` of the id of its call. */
export interface IdOfCall {
  /** The id under which the tokens are held. Absent without `hold`. */
  readonly once?: string;
}

/** What a procedure finds at `ctx.rateLimit` of the slot that its call holds. */
export interface SlotOfCall {
  /**
   * Aborted when the slot is lost; see `signal` of `EnterGranted`. Absent where none of the limits is of
   * `kind: "concurrency"`.
   */
  signal?: AbortSignal;
}

/**
 * The tokens that were used, by limit. Limits that are left out stay as they were charged, and so do
 * those whose use is not known; then `settled` is false. A name that is none of them is a
 * `RateLimitInputError`, and then nothing is settled.
 */
export type SettledCounts<TNames> = TNames extends readonly (infer TName extends string)[]
  ? { readonly [TKey in TName]?: number | null | undefined }
  : never;

/** What a call costs, and how the limits pay for it. */
export interface RateLimitedFirstOptions<TContext, TInput, TPlan extends string = never>
  extends
    Omit<RateLimitedOptions<TContext, TInput, TPlan>, "reserve" | "maxWait" | "holder">,
    Pick<ChargeOnErrorOptions, "on"> {
  /**
   * Each limit gives what it has, in order, until the call has its tokens; see `split` of
   * `limitFirst`. The `count` of the first limit is then that of the call.
   * @default false: one limit pays for the whole call
   */
  split?: boolean;
}

/**
 * The result that a procedure finds at `ctx.rateLimit`. Its `paid` says which limits gave how many
 * tokens, and `settle` corrects that to the tokens that were really used: what was paid last goes
 * back first, and more than was paid is charged to the first limit. It can be called after the
 * procedure has returned. It does not reject when the store fails: the estimate stays charged.
 */
export type FirstGranted<TName extends string> = Extract<LimitFirstResult<TName>, { ok: true }> & {
  settle(actual: number | null | undefined): Promise<SettleResult>;
} & IdOfCall;

type Overwrite<TContext, TOverrides> = object extends TOverrides
  ? TContext
  : Omit<TContext, keyof TOverrides> & TOverrides;
type Flat<TObject> = { [TKey in keyof TObject]: TObject[TKey] };
/** A context with the overrides of earlier middleware. */
export type ContextWith<TContext, TOverrides> = Flat<Overwrite<TContext, TOverrides>>;

/**
 * Middleware for `.use(…)`. Put it after `.input(…)`. Then a call with an invalid input consumes
 * nothing, and the functions among the options receive the input, typed.
 *
 * `names` is one limit, or several limits that are charged all or nothing in one round trip.
 *
 * A denied call throws a `TRPCError` `TOO_MANY_REQUESTS` that `isRateLimitError` recognises.
 *
 * One of the limits may be of `kind: "concurrency"`. The call then holds a slot while its procedure
 * runs. If the procedure returns a stream, the call holds it to the end of the stream, or until the
 * client goes away.
 *
 * @example
 * const sendMany = t.procedure
 *   .input(z.object({ texts: z.array(z.string()) }))
 *   .use(rl.rateLimited("sendMessage", { count: ({ input }) => input.texts.length }))
 *   .mutation(() => send());
 */
export interface RateLimited<
  TContext,
  TMeta,
  TName extends string,
  TTransaction,
  TPlan extends string = never,
> {
  <TOverrides extends object, TInput, const TNames extends TName | readonly TName[]>(
    names: TNames,
    options?: RateLimitedOptions<ContextWith<TContext, TOverrides>, TInput, TPlan> &
      ChargeOnErrorOptions,
  ): MiddlewareFunction<TContext, TMeta, TOverrides, { rateLimit: Granted<TNames> }, TInput>;

  /**
   * The first of several limits that has the tokens pays for the call, such as the plan and then the
   * credits; see `limitFirst` of the limiter. `ctx.rateLimit.paid` says which one it was. A call that
   * none of them can pay for is denied until the first of them can.
   *
   * @example
   * const draw = t.procedure.use(rl.rateLimited.first(["plan", "credits"])).mutation(() => send());
   */
  first<TOverrides extends object, TInput, const TNames extends readonly TName[]>(
    names: TNames,
    options?: RateLimitedFirstOptions<ContextWith<TContext, TOverrides>, TInput, TPlan>,
  ): MiddlewareFunction<
    TContext,
    TMeta,
    TOverrides,
    { rateLimit: FirstGranted<TNames[number]> },
    TInput
  >;

  /**
   * Charges the call and runs its procedure in one Serializable transaction of the database, which
   * the procedure finds at `ctx.tx`. When the procedure throws, its data and the tokens are rolled
   * back together. After a conflict the procedure runs again, so it should have no effects outside
   * the transaction. Not for subscriptions, which outlive their call, and not for limits with
   * `blockFor`: the rollback after a denial would open the bucket again.
   *
   * @example
   * const post = t.procedure
   *   .use(rl.rateLimited.transaction("sendMessage"))
   *   .mutation(({ ctx }) => ctx.tx.message.create({ data: { visitor: ctx.userId, text } }));
   */
  transaction<TOverrides extends object, TInput, const TNames extends TName | readonly TName[]>(
    names: TNames,
    options?: RateLimitedOptions<ContextWith<TContext, TOverrides>, TInput, TPlan>,
  ): MiddlewareFunction<
    TContext,
    TMeta,
    TOverrides,
    { rateLimit: Granted<TNames>; tx: TTransaction },
    TInput
  >;
}
