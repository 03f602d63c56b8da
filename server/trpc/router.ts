/**
 * The router through which clients read limits. A caller may read a limit if the `key` resolver
 * returns a key. No caller may consume or reset, unless `authorize` allows it.
 */
import { type TRPCBuilder, TRPCError } from "@trpc/server";
import type { AnyLimit } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { validateSatisfiable } from "../../core/count.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { throwingPublicErrors, toPublicError } from "./errors.js";
import { keyOption } from "../../core/key-option.js";
import { type KeyResolver, resolveKey } from "./key-for-caller.js";
import type { PlanFor } from "./plan-for-caller.js";
import type { Item, Query, RateLimitRouter } from "./router-types.js";
import { createRateLimitSchemas } from "./schemas.js";
import { createHubPerStream, createWatchHub, type WatchSource } from "../changes/watch-hub.js";
import { requestsOwnIo } from "../runtime/requests-own-io.js";
import { createWatchStreams } from "../changes/watch-streams.js";

/** The argument of `authorize`. */
export interface AuthorizeOptions<TContext, TName extends string> {
  /** The context of the request. */
  ctx: TContext;
  /** The procedure of the router that was called. */
  action: "limit" | "reset";
  /** The limit. */
  name: TName;
  /** The key as the server resolved it. */
  key: string | undefined;
}

/** The bucket of a request, and the plan of its caller; `undefined` for a limit without plans. */
interface KeyAndPlan {
  key?: string;
  plan: string | undefined;
}

/** The terms of each plan, by the names of plans and limits; see `plans` of the limiter. */
type PlansShown = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface RouterOptions<TContext extends object, TName extends string> {
  limiter: UntypedRateLimiter & WatchSource<TName> & { readonly plans: PlansShown };
  names: readonly TName[];
  resolver: KeyResolver<TContext, TName>;
  planFor: PlanFor;
  authorize:
    ((options: AuthorizeOptions<TContext, TName>) => boolean | Promise<boolean>) | undefined;
  /** ms between two reads for the changes of other processes. */
  interval: number;
  /** The most streams that one caller may have open. */
  maxStreams: number;
  /** ms between two checks of an open stream's keys and plans. */
  keyInterval: number;
}

export function createRateLimitRouter<
  TContext extends object,
  TMeta extends object,
  TName extends string,
>(
  t: Pick<ReturnType<TRPCBuilder<TContext, TMeta>["create"]>, "procedure" | "router">,
  options: RouterOptions<TContext, TName>,
): RateLimitRouter<TContext, TMeta, TName> {
  const { limiter } = options;
  const schemas = createRateLimitSchemas(options.names);
  const streams = createStreams(options);

  return t.router({
    /** The state of one limit, for the client to calculate with. */
    status: t.procedure
      .input(schemas.query)
      .query(({ ctx, input }) => throwingPublicErrors(() => snapshotFor(options, ctx, input))),

    /** The answer that `limit` would give. Consumes nothing. */
    check: t.procedure.input(schemas.query).query(({ ctx, input }) =>
      throwingPublicErrors(async () => {
        const { name, count } = input;
        const limit = await limitFor(options, ctx, input);
        return shownToClients(
          await limiter.check(name, {
            ...limit,
            ...(count !== undefined && { count }),
            context: ctx,
          }),
        );
      }),
    ),

    /**
     * Snapshots of several limits: one snapshot of each limit at once, and a new snapshot after each
     * change.
     */
    watch: t.procedure.input(schemas.watch).subscription(async function* ({ ctx, input, signal }) {
      yield* streams.watch(ctx, input, signal);
    }),

    /** Consumes tokens, where `authorize` allows it. A denial is an answer, not an error. */
    limit: t.procedure.input(schemas.limit).mutation(({ ctx, input }) =>
      throwingPublicErrors(async () => {
        const { name, count, reserve } = input;
        const allowed = await authorized(options, ctx, "limit", input);
        return shownToClients(
          await limiter.limit(name, {
            ...allowed,
            ...(count !== undefined && { count }),
            reserve,
            context: ctx,
          }),
        );
      }),
    ),

    /** Fills a bucket, where `authorize` allows it. */
    reset: t.procedure.input(schemas.reset).mutation(({ ctx, input }) =>
      throwingPublicErrors(async () => {
        await limiter.reset(input.name, await authorized(options, ctx, "reset", input));
      }),
    ),
  });
}

function createStreams<TContext extends object, TName extends string>(
  options: RouterOptions<TContext, TName>,
) {
  const { limiter, names, planFor, interval, maxStreams, keyInterval } = options;
  return createWatchStreams({
    names,
    hub: requestsOwnIo()
      ? createHubPerStream(limiter, interval)
      : createWatchHub(limiter, interval),
    maxStreams,
    keyInterval,
    keyFor: (ctx, name, requested) =>
      resolveKey(options.resolver, ctx as TContext, name, requested),
    planFor,
    // tRPC's client must not reconnect on this code. Clients of this package poll instead, and try a
    // stream again after growing pauses. A client that reconnects by itself is not refused: it sends the
    // id of the stream that it replaces.
    refusal: (message) => new TRPCError({ code: "CONFLICT", message }),
    toPublicError,
  });
}

async function snapshotFor<TContext extends object, TName extends string>(
  options: RouterOptions<TContext, TName>,
  ctx: unknown,
  input: Query<TName>,
): Promise<RateLimitSnapshot<TName>> {
  const { limiter } = options;
  const { name, key, count } = input;
  const limit = await limitFor(options, ctx, input);
  const [snapshot] = await limiter.snapshots([{ name, ...limit }]);
  if (count !== undefined && !isExempt(limiter, snapshot!)) {
    validateSatisfiable(name, snapshot!.config, count, false);
  }
  return { ...snapshot!, ...(key !== undefined && { key }) };
}

async function limitFor<TContext extends object, TName extends string>(
  { resolver, planFor }: RouterOptions<TContext, TName>,
  ctx: unknown,
  { name, key: requested }: Item<TName>,
): Promise<KeyAndPlan> {
  const key = await resolveKey(resolver, ctx as TContext, name, requested);
  return { ...keyOption(key), plan: await planFor(ctx, name, key) };
}

async function authorized<TContext extends object, TName extends string>(
  { resolver, planFor, authorize }: RouterOptions<TContext, TName>,
  ctx: unknown,
  action: "limit" | "reset",
  { name, key: requested }: Item<TName>,
): Promise<KeyAndPlan> {
  const forbidden = new TRPCError({
    code: "FORBIDDEN",
    message: `This caller may not use "${action}" on rate limit "${name}"`,
  });
  if (authorize === undefined) throw forbidden;
  const key = await resolveKey(resolver, ctx as TContext, name, requested);
  if (!(await authorize({ ctx: ctx as TContext, action, name, key }))) throw forbidden;
  return { ...keyOption(key), plan: await planFor(ctx, name, key) };
}

/** The result without the reason why a call passed: an attacker must not learn which limits are open. */
function shownToClients(result: RateLimitResult): RateLimitResult {
  if (!result.ok || (result.storeFailed ?? result.disabled) === undefined) return result;
  const { storeFailed: _, disabled: __, ...shown } = result;
  return shown;
}

/**
 * Whether an override or the plan lets every call of this limit pass. The config of the snapshot is then
 * a shadow.
 */
function isExempt(
  { limits, plans }: RouterOptions<object, string>["limiter"],
  { name, plan = "", config }: RateLimitSnapshot,
): boolean {
  const isUnlimited = plans[plan]?.[name] === "unlimited";
  return config.shadow === true && (isUnlimited || (limits[name] as AnyLimit).shadow !== true);
}
