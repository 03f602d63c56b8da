/** The types of the middleware that `createRateLimitTRPC` returns as `rateLimited`. */
import type { TRPCError, TRPCProcedureType } from "@trpc/server";
import type { MiddlewareFunction } from "./trpc-types.js";
import type { LimitConfig } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllResult, ResultsOf } from "../limiter/types/limit-all.js";
import type { ChargedNames } from "./charged-names.js";
import type { SettleResult } from "../limiter/types/settle.js";
import type { LimitFirstResult } from "../limiter/types/limit-first.js";
import type { HoldTerms } from "../limiter/types/hold-terms.js";
import type { KeyAnswer } from "../limiter/types/key-answer.js";

/** A procedure call, as the functions among the options receive it. */
export interface RateLimitedCall<TContext, TInput> {
  /** The limit that the option is for. The middleware may charge several limits. */
  name: string;
  /** The context, with the additions of earlier middleware. */
  ctx: TContext;
  /** The parsed input, if the middleware stands after `.input(…)`, or else `undefined`. */
  input: TInput;
  /** The dotted path of the procedure, such as `post.create`. */
  path: string;
  /** `"query"`, `"mutation"` or `"subscription"`. */
  type: TRPCProcedureType;
}

type OrFunction<TCall, TValue> = TValue | ((call: TCall) => TValue | Promise<TValue>);

/** The tokens that a call is charged, and the bucket. */
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
   * The plan of the call, for limits with plans. The router does not know this option, so pages show the
   * plan of `createRateLimitTRPC`. An answer that is no plan of the limiter fails the call with
   * `INTERNAL_SERVER_ERROR`; its `cause` has the reason. Not with `config`.
   * @default the result of the `plan` of `createRateLimitTRPC`, or of the limiter's own
   */
  plan?: OrFunction<RateLimitedCall<TContext, TInput>, TPlan>;
  /**
   * The limit's config for this call, where no plan has that config. `undefined` means the limit's own
   * config, or the config of the caller's plan. The router does not know this option, so pages show the
   * limit without this config. A config that is not valid fails the call with `INTERNAL_SERVER_ERROR`;
   * its `cause` has the reason.
   * @default the limit's own config, or the config of the caller's plan
   */
  config?: OrFunction<RateLimitedCall<TContext, TInput>, LimitConfig | undefined>;
  /** Takes tokens that are still to come. `ctx.rateLimit.retryAfter` then says when to do the work. */
  reserve?: OrFunction<RateLimitedCall<TContext, TInput>, boolean>;
  /**
   * How long a call waits in line for a slot, ms: at least 0, or `Infinity`. Only with a limit of
   * `kind: "concurrency"`. The wait ends when the client goes away.
   * @default none: the call is denied at once where no slot is free
   */
  maxWait?: number | undefined;
  /**
   * The id of the holder of the slot. For example, a page makes an id up for its stream, and sends the id
   * again when it reconnects: `({ input }) => input.stream`. A call with the id of a held slot takes the
   * slot over. The stream that held the slot then ends with `CONFLICT`, after a third of the `ttl` at
   * most. Without an id, a page that has lost its connection is denied until the server notices the dead
   * connection, and tRPC's client gives up. Only with a limit of `kind: "concurrency"`; see `holder` of
   * `enter`.
   * @default none: each call has a slot of its own
   */
  holder?: ((call: RateLimitedCall<TContext, TInput>) => string | undefined) | undefined;
  /**
   * The id of the call, such as one that the client has sent: `({ input }) => input.nonce`. The same id
   * is charged once per limit and key; see `once` of `limit`. `ctx.rateLimit.repeated` then tells the
   * procedure that it has been asked before. The procedure runs again, so the procedure must do its work
   * only once, too: by a unique column for the id. Otherwise, a client gets any number of calls for one
   * id. With several limits, the function is called once, and `name` is the first limit. `undefined` is
   * no id. An id that no row can have is BAD_REQUEST. Not for limits with `shards`, and not with slots.
   */
  once?: (
    call: RateLimitedCall<TContext, TInput>,
  ) => string | undefined | Promise<string | undefined>;
  /**
   * Holds the tokens of the call until they are settled, by `ctx.rateLimit.settle` or, in any process, by
   * the id; see `hold` of `limit`. The id is the result of `once`, or a random id. `ctx.rateLimit.once`
   * has the id, for a job that settles the call later. If a procedure fails without settling, the hold
   * lapses, unless `on` gives the tokens back. Of several limits, the limits with `holds: true` hold
   * their tokens.
   * @default none: the tokens are spent
   */
  hold?: HoldTerms | undefined;
}

/** The calls that are charged. */
export interface ChargeOnErrorOptions {
  /**
   * The calls that cost tokens: every call, every call without an error, every call with an error, or
   * every call with an error for which the function returns true. Every call is charged before its
   * procedure runs. Afterwards, the tokens of calls that cost none are given back. A hundred concurrent
   * guesses thus get no further than a hundred guesses in a row.
   * @default "call"
   */
  on?: "call" | "success" | "error" | ((error: TRPCError) => boolean);
  /** Fill the bucket when the procedure succeeds, for example after a log-in. @default false */
  resetOnSuccess?: boolean;
}

/**
 * The result that a procedure finds at `ctx.rateLimit`. The result is always `ok`.
 *
 * `settle` corrects the charge to the tokens that were really used, as `settle` of the limiter does. For
 * several limits, `settle` takes the tokens by the names of the limits. `settle` can be called after the
 * procedure has returned, for example at the end of a stream. When the store fails, `settle` does not
 * reject: the estimate stays charged, and `settled` is false. The same happens where the use is not
 * known: `undefined`, `null` or `NaN`. In `rateLimited.transaction`, `settle` is part of the transaction,
 * and rejects when the store fails.
 */
export type Granted<TNames> = TNames extends string
  ? Extract<RateLimitResult, { ok: true }> & {
      settle(actual: number | null | undefined): Promise<SettleResult>;
    } & SlotOfCall &
      IdOfCall
  : TNames extends readonly unknown[]
    ? Extract<LimitAllResult<ResultsFor<TNames>>, { ok: true }> & {
        settle(actual: SettledCounts<TNames> | null | undefined): Promise<SettleResult>;
      } & SlotOfCall &
        IdOfCall
    : never;

/** The results of a list of names. Where the list has no `first`, they are all alike. */
type ResultsFor<TNames extends readonly unknown[]> = [
  Extract<TNames[number], { first: unknown }>,
] extends [never]
  ? RateLimitResult[]
  : ResultsOf<TNames>;

/** The id of a call, which its procedure finds at `ctx.rateLimit`. */
export interface IdOfCall {
  /** The id under which the tokens are held. Absent without `hold`. */
  readonly once?: string;
}

/** The signal of the slot of a call, which its procedure finds at `ctx.rateLimit`. */
export interface SlotOfCall {
  /**
   * Aborted when the slot is lost; see `signal` of `EnterGranted`. Absent without a limit of `kind:
   * "concurrency"`.
   */
  signal?: AbortSignal;
}

/**
 * The tokens that were used, by limit. Of a `first`, give the count under the name of one of its limits.
 * Limits that are left out, or with a use that is not known, stay as they were charged; `settled` is then
 * false. A name of another limit is a `RateLimitInputError`, and nothing is settled.
 */
export type SettledCounts<TNames> = TNames extends readonly (infer TName)[]
  ? { readonly [TKey in NameIn<TName>]?: number | null | undefined }
  : never;

type NameIn<TItem> = TItem extends string
  ? TItem
  : TItem extends { first: readonly (infer TName extends string)[] }
    ? TName
    : never;

/** The cost of a call, and how the limits pay for it. */
export interface RateLimitedFirstOptions<TContext, TInput, TPlan extends string = never>
  extends
    Omit<RateLimitedOptions<TContext, TInput, TPlan>, "reserve" | "maxWait" | "holder">,
    Pick<ChargeOnErrorOptions, "on"> {
  /**
   * Each limit gives the tokens that it has, in order, until the call has its tokens; see `split` of
   * `limitFirst`. The `count` of the first limit is then the count of the call.
   * @default false: one limit pays for the whole call
   */
  split?: boolean;
}

/**
 * The result that a procedure finds at `ctx.rateLimit`. `paid` says which limits gave how many tokens.
 * `settle` corrects the charge to the tokens that were really used: tokens that were paid last go back
 * first, and tokens beyond the payment are charged to the first limit. `settle` can be called after the
 * procedure has returned. When the store fails, `settle` does not reject: the estimate stays charged.
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
 * Middleware for `.use(…)`. Put the middleware after `.input(…)`: a call with an invalid input then
 * consumes nothing, and the functions among the options receive the input, typed.
 *
 * `names` is one limit, or several limits that are charged all or nothing in one round trip. An item
 * `{ first: […] }` of several limits charges the first of its limits that has the tokens, such as the plan
 * and then the credits. Its result is that of `limitFirst`. It does not go with `reserve: true` and
 * `resetOnSuccess`.
 *
 * A denied call throws a `TRPCError` `TOO_MANY_REQUESTS` that `isRateLimitError` recognises.
 *
 * One of the limits may be of `kind: "concurrency"`. The call then holds a slot while its procedure runs.
 * If the procedure returns a stream, the call holds the slot to the end of the stream, or until the
 * client goes away.
 *
 * @example
 * const sendMany = t.procedure
 *   .input(z.object({ texts: z.array(z.string()) }))
 *   .use(rl.rateLimited("sendMessage", { count: ({ input }) => input.texts.length }))
 *   .mutation(() => send());
 *
 * @example
 * const draw = t.procedure
 *   .use(rl.rateLimited(["sendMessage", { first: ["plan", "credits"] }]))
 *   .mutation(() => send());
 */
export interface RateLimited<
  TContext,
  TMeta,
  TName extends string,
  TTransaction,
  TPlan extends string = never,
> {
  <TOverrides extends object, TInput, const TNames extends ChargedNames<TName>>(
    names: TNames,
    options?: RateLimitedOptions<ContextWith<TContext, TOverrides>, TInput, TPlan> &
      ChargeOnErrorOptions,
  ): MiddlewareFunction<TContext, TMeta, TOverrides, { rateLimit: Granted<TNames> }, TInput>;

  /**
   * The first of several limits that has the tokens pays for the call, such as the plan and then the
   * credits; see `limitFirst` of the limiter. `ctx.rateLimit.paid` names the limit that paid. A call for
   * which no limit can pay is denied until the earliest of the limits can pay.
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
  transaction<TOverrides extends object, TInput, const TNames extends ChargedNames<TName>>(
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
