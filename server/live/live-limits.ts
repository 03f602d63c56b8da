/**
 * The answers to callers from outside: a router of tRPC and a handler of HTTP call the same functions. A
 * caller may read a limit if the `key` resolver returns a key. No caller may consume or reset, unless
 * `authorize` allows it.
 */
import { validateSatisfiable } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import { keyOption } from "../../core/key-option.js";
import type { AnyLimit } from "../../core/limit-config.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { requestsOwnIo } from "../runtime/requests-own-io.js";
import { type KeyResolver, resolveKey } from "./key-for-caller.js";
import type { Item, Query } from "./live-inputs.js";
import type { PlanFor } from "./plan-for-caller.js";
import { RefusedRequest } from "./refused.js";
import { createHubPerStream, createWatchHub, type WatchSource } from "./watch-hub.js";
import { createWatchStreams, type WatchInput } from "./watch-streams.js";

/** The argument of `authorize`. */
export interface AuthorizeOptions<TContext, TName extends string> {
  /** The context of the request. */
  ctx: TContext;
  /** The action that was called. */
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

export interface LiveLimitsOptions<TContext, TName extends string> {
  limiter: UntypedRateLimiter & WatchSource<TName> & { readonly plans: PlansShown };
  /** The limits that callers may read. */
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

/**
 * Each function takes the context of the request first. It throws a `RefusedRequest` where the caller may
 * not do that, the package's errors, and what the resolvers throw.
 */
export class LiveLimits<TContext, TName extends string> {
  readonly #options: LiveLimitsOptions<TContext, TName>;
  readonly #streams;

  constructor(options: LiveLimitsOptions<TContext, TName>) {
    this.#options = options;
    const { limiter, names, planFor, interval, maxStreams, keyInterval } = options;
    this.#streams = createWatchStreams({
      names,
      hub: requestsOwnIo()
        ? createHubPerStream(limiter, interval)
        : createWatchHub(limiter, interval),
      maxStreams,
      keyInterval,
      keyFor: (ctx, name, requested) =>
        resolveKey(options.resolver, ctx as TContext, name, requested),
      planFor,
    });
  }

  /** The state of one limit, for the client to calculate with. */
  async status(ctx: TContext, input: Query<TName>): Promise<RateLimitSnapshot<TName>> {
    const { limiter } = this.#options;
    const { name, key, count } = input;
    const limit = await this.#limitFor(ctx, input);
    const [snapshot] = await limiter.snapshots([{ name, ...limit }]);
    if (count !== undefined && !isExempt(limiter, snapshot!)) {
      validateSatisfiable(name, snapshot!.config, count, false);
    }
    return { ...snapshot!, ...(key !== undefined && { key }) };
  }

  /** The answer that `limit` would give. Consumes nothing. */
  async check(ctx: TContext, input: Query<TName>): Promise<RateLimitResult> {
    const { name, count } = input;
    const limit = await this.#limitFor(ctx, input);
    const asked = { ...limit, ...(count !== undefined && { count }), context: ctx };
    return shownToClients(await this.#options.limiter.check(name, asked));
  }

  /**
   * Snapshots of several limits: one snapshot of each limit at once, and a new snapshot after each
   * change.
   */
  watch(
    ctx: TContext,
    input: WatchInput<TName>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RateLimitSnapshot<TName>, void, undefined> {
    return this.#streams.watch(ctx, input, signal);
  }

  /** Consumes tokens, where `authorize` allows it. A denial is an answer, not an error. */
  async limit(
    ctx: TContext,
    input: Query<TName> & { reserve?: boolean | undefined },
  ): Promise<RateLimitResult> {
    const { name, count, reserve } = input;
    const allowed = await this.#authorized(ctx, "limit", input);
    const asked = { ...allowed, ...(count !== undefined && { count }), reserve, context: ctx };
    return shownToClients(await this.#options.limiter.limit(name, asked));
  }

  /** Fills a bucket, where `authorize` allows it. */
  async reset(ctx: TContext, input: Item<TName>): Promise<void> {
    const allowed = await this.#authorized(ctx, "reset", input);
    await this.#options.limiter.reset(input.name, allowed);
  }

  async #limitFor(ctx: TContext, { name, key: requested }: Item<TName>): Promise<KeyAndPlan> {
    const { resolver, planFor } = this.#options;
    const key = await resolveKey(resolver, ctx, name, requested);
    return { ...keyOption(key), plan: await planFor(ctx, name, key) };
  }

  async #authorized(
    ctx: TContext,
    action: "limit" | "reset",
    { name, key: requested }: Item<TName>,
  ): Promise<KeyAndPlan> {
    const { resolver, planFor, authorize } = this.#options;
    const forbidden = new RefusedRequest(
      "FORBIDDEN",
      `This caller may not use "${action}" on rate limit "${name}"`,
    );
    if (authorize === undefined) throw forbidden;
    const key = await resolveKey(resolver, ctx, name, requested);
    if (!(await authorize({ ctx, action, name, key }))) throw forbidden;
    return { ...keyOption(key), plan: await planFor(ctx, name, key) };
  }
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
  { limits, plans }: LiveLimitsOptions<never, string>["limiter"],
  { name, plan = "", config }: RateLimitSnapshot,
): boolean {
  const isUnlimited = plans[plan]?.[name] === "unlimited";
  return config.shadow === true && (isUnlimited || (limits[name] as AnyLimit).shadow !== true);
}
