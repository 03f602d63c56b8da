/** The options of `createRateLimitTRPC`, and their checks. */
import { RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { SHARED_BUCKET, type SharedBucket } from "../limiter/types/key-answer.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { PlanBy, PlannedName, PlanName } from "../limiter/types/plan-types.js";
import type { RateLimitAdminOptions } from "./admin/admin-types.js";
import type { KeyResolver } from "./key-for-caller.js";
import type { PlanForCaller } from "./plan-for-caller.js";
import type { AuthorizeOptions } from "./router.js";

/** How often `watch` reads the changes of other processes, ms. */
const DEFAULT_INTERVAL = 1000;
/** How many streams one caller may have open. A page has one stream, and two streams for a moment. */
const DEFAULT_MAX_STREAMS = 10;
/** How often the keys and plans of an open stream are resolved again, ms. */
const DEFAULT_KEY_INTERVAL = 60_000;

/**
 * The result of `initTRPC.….create()`. The type of tRPC is not named: CommonJS code and ES modules get
 * different copies of the type, and TypeScript does not always see that the copies are the same.
 */
export interface TRPCRootLike<TContext extends object, TMeta extends object> {
  /** The types of the context and of the metadata. */
  readonly _config: { readonly $types: { readonly ctx: TContext; readonly meta: TMeta } };
  /** The builder of procedures, which takes the middleware. */
  readonly procedure: object;
  /** Makes a router of procedures. */
  readonly router: (record: never) => unknown;
}

/** The options of `createRateLimitTRPC`. */
export interface RateLimitTRPCOptions<
  TContext extends object,
  TMeta extends object,
  TLimits extends LimitConfigs,
  TTransaction,
  TExposed extends keyof TLimits & string = keyof TLimits & string,
  TBy extends PlanBy = "call",
> {
  /** The result of `initTRPC.….create()`. */
  t: TRPCRootLike<TContext, TMeta>;
  /** The limiter whose limits are charged and read. */
  limiter: RateLimiter<TLimits, TTransaction, TBy>;
  /**
   * The key of a request's bucket, such as the id of the user. Return `SHARED_BUCKET` for the bucket that
   * all callers share, and `null` to reject the request. `SHARED_BUCKET` in place of a function is for all
   * requests.
   */
  key: KeyResolver<TContext, keyof TLimits & string> | SharedBucket;
  /**
   * The plan of this caller, such as the plan of a paying user. The middleware charges by it, and the
   * router answers by it. A procedure's own `plan` or `config` goes before this function. The function is
   * called after `key`, for each limit of a request that has plans. An answer that is no plan of the
   * limiter fails the request with `INTERNAL_SERVER_ERROR`; its `cause` has the reason.
   * @default what the `plan` function of the limiter says; required where a limiter with plans has no
   * such function
   */
  plan?: PlanForCaller<TContext, PlannedName<TLimits>, PlanName<TLimits>>;
  /**
   * The limits that clients may know. The router accepts only these limits, and errors and header fields
   * name only these. A denial by another limit is `TOO_MANY_REQUESTS` with `Retry-After` alone.
   * @default all limits
   */
  expose?: readonly TExposed[];
  /**
   * Whether a caller may use the router's `limit` and `reset`.
   * @default no caller may
   */
  authorize?: (
    options: AuthorizeOptions<TContext, keyof TLimits & string>,
  ) => boolean | Promise<boolean>;
  /**
   * Decides which callers may use `admin`, the router for operators. This option is separate from
   * `authorize` on purpose: a right to the router of pages must never open the router for operators.
   * @default no caller may use any of its procedures
   */
  admin?: RateLimitAdminOptions<TContext, keyof TLimits & string> | undefined;
  /** ms between two reads by `watch` for the changes of other processes, above 0. @default 1000 */
  interval?: number;
  /**
   * The most `watch` streams of one caller in this process: a whole number of at least 1, or `Infinity`.
   * A further stream is rejected with `CONFLICT`, and its page polls. A stream counts for the keys that
   * its caller has without requesting one. Callers without a key may together open 100 times as many
   * streams. All streams together follow at most 500 times as many keys that clients requested.
   * @default 10
   */
  maxStreams?: number;
  /**
   * ms between two calls of `key` and `plan` for each limit that a stream follows, above 0. The stream
   * ends when the key is rejected or has changed, and goes on by a plan that has changed. `ctx` is the
   * context of the stream's start. A resolver that only reads `ctx` never learns of a change: look the
   * right or the plan up. After `planChanged`, the streams of its key are checked at once.
   * @default 60000
   */
  keyInterval?: number;
}

/** Where neither the limiter nor a call says the plan, `createRateLimitTRPC` has to say the plan. */
export type SaysPlanOfCaller<TContext, TLimits, TBy extends PlanBy> = "limiter" extends TBy
  ? unknown
  : [PlannedName<TLimits>] extends [never]
    ? unknown
    : { plan: PlanForCaller<TContext, PlannedName<TLimits>, PlanName<TLimits>> };

type AnyOptions = RateLimitTRPCOptions<object, object, LimitConfigs, unknown>;
const OPTIONS = namesOf<AnyOptions>({
  t: true,
  limiter: true,
  key: true,
  plan: true,
  expose: true,
  authorize: true,
  admin: true,
  interval: true,
  maxStreams: true,
  keyInterval: true,
});

const ADMIN_OPTIONS = namesOf<RateLimitAdminOptions<object, string>>({
  authorize: true,
  actor: true,
});

/** The options before they are checked: plain JavaScript can pass any value. */
interface Unchecked<TLimits> {
  limiter: { readonly limits: TLimits };
  key?: unknown;
  expose?: readonly (keyof TLimits & string)[];
  authorize?: unknown;
  admin?: RateLimitAdminOptions<never, never> | undefined;
  interval?: number;
  maxStreams?: number;
  keyInterval?: number;
}

/** Checks all options but `plan`. Returns the limits, and what streams need. */
export function checkedOptions<TLimits extends LimitConfigs>(options: Unchecked<TLimits>) {
  type TName = keyof TLimits & string;
  rejectUnknownOptions(options, OPTIONS, "createRateLimitTRPC()");
  const { limiter, key, authorize, admin } = options;
  const { interval = DEFAULT_INTERVAL, keyInterval = DEFAULT_KEY_INTERVAL } = options;
  const { maxStreams = DEFAULT_MAX_STREAMS } = options;
  const names = Object.keys(limiter.limits) as TName[];
  if (names.length === 0) {
    const message = "the limiter has no limits; name at least one in createRateLimiter({ limits })";
    throw new RateLimitConfigError("limits", limiter.limits, { message });
  }
  const exposed: readonly TName[] = options.expose ?? names;
  if (!Array.isArray(exposed) || !exposed.every((name) => names.includes(name))) {
    throw new RateLimitConfigError("expose", exposed, `a list of ${names.join(", ")}`);
  }
  if (key !== SHARED_BUCKET && typeof key !== "function") {
    const problem =
      "a function that says whose bucket a request takes from, such as ({ ctx }) => ctx.userId, or " +
      "SHARED_BUCKET for one bucket of all callers";
    throw new RateLimitConfigError("key", key, problem);
  }
  if (authorize !== undefined && typeof authorize !== "function") {
    throw new RateLimitConfigError("authorize", authorize, "a function");
  }
  if (!(interval > 0)) {
    throw new RateLimitConfigError("interval", interval, "a number of ms above 0");
  }
  if (!(keyInterval > 0)) {
    throw new RateLimitConfigError("keyInterval", keyInterval, "a number of ms above 0");
  }
  if (!(maxStreams >= 1 && (Number.isInteger(maxStreams) || maxStreams === Infinity))) {
    throw new RateLimitConfigError("maxStreams", maxStreams, "a whole number of at least 1");
  }
  if (admin !== undefined) checkAdmin(admin);
  return { names, exposed, interval, maxStreams, keyInterval };
}

/** Checks options that plain JavaScript may misspell or leave out. */
function checkAdmin(admin: RateLimitAdminOptions<never, never>): void {
  rejectUnknownOptions(admin, ADMIN_OPTIONS, "createRateLimitTRPC({ admin })");
  const { authorize, actor } = admin;
  if (typeof authorize !== "function") {
    throw new RateLimitConfigError("admin.authorize", authorize, "a function");
  }
  if (actor !== undefined && typeof actor !== "function") {
    throw new RateLimitConfigError("admin.actor", actor, "a function");
  }
}
