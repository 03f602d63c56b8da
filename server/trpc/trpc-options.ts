/** The options of `createRateLimitTRPC`, and their checks. */
import { RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import type { SharedBucket } from "../limiter/types/key-answer.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { PlanBy, PlannedName, PlanName } from "../limiter/types/plan-types.js";
import type { AuthorizeOptions } from "../live/live-limits.js";
import {
  checkedLiveOptions,
  type StreamOptions,
  type UncheckedLiveOptions,
} from "../live/live-options.js";
import type { RateLimitAdminOptions } from "./admin/admin-types.js";
import type { KeyResolver } from "../live/key-for-caller.js";
import type { PlanForCaller } from "../live/plan-for-caller.js";

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
> extends StreamOptions {
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
}

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

interface Unchecked<TLimits> extends UncheckedLiveOptions<TLimits> {
  admin?: RateLimitAdminOptions<never, never> | undefined;
}

/** Checks all options but `plan`; see `checkedLiveOptions`. */
export function checkedOptions<TLimits extends LimitConfigs>(options: Unchecked<TLimits>) {
  rejectUnknownOptions(options, OPTIONS, "createRateLimitTRPC()");
  const checked = checkedLiveOptions(options, "({ ctx }) => ctx.userId");
  if (options.admin !== undefined) checkAdmin(options.admin);
  return checked;
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
