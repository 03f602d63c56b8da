/** The type of the admin router, written down for the same reason as the type of `router`. */
import type { TRPCMutationProcedure, TRPCQueryProcedure } from "@trpc/server";
import type { BuiltRouter, DefaultErrorShape, Definition } from "../trpc-types.js";
import type {
  AdminChange,
  AdminDenials,
  AdminKey,
  AdminLimits,
  AdminPage,
  AdminPlanChange,
  AdminUsage,
} from "./admin-types.js";

/**
 * The router for operators: `rl.admin`. Each procedure is FORBIDDEN unless `admin.authorize` allows it.
 *
 * @example
 * const forOperators = createRateLimitTRPC({
 *   t,
 *   limiter,
 *   key: ({ ctx }) => ctx.userId,
 *   admin: { authorize: ({ ctx }) => ctx.userId === "operator" },
 * });
 * const appRouter = t.router({ rateLimitAdmin: forOperators.admin });
 */
export type RateLimitAdminRouter<
  TContext extends object,
  TMeta extends object,
  TName extends string,
> = BuiltRouter<
  { ctx: TContext; meta: TMeta; errorShape: DefaultErrorShape; transformer: false },
  {
    limits: TRPCQueryProcedure<Definition<TMeta, void, AdminLimits<TName>>>;
    list: TRPCQueryProcedure<Definition<TMeta, AdminListInput<TName>, AdminPage>>;
    key: TRPCQueryProcedure<Definition<TMeta, AdminKeyInput | void, AdminKey<TName>>>;
    usage: TRPCQueryProcedure<Definition<TMeta, AdminUsageInput<TName>, AdminUsage>>;
    denials: TRPCQueryProcedure<
      Definition<TMeta, AdminDenialsInput<TName> | void, AdminDenials<TName>>
    >;
    ban: Action<TMeta, AdminTimedInput<TName>>;
    exempt: Action<TMeta, AdminTimedInput<TName>>;
    raise: Action<TMeta, AdminRaiseInput<TName>>;
    plan: TRPCMutationProcedure<Definition<TMeta, AdminPlanInput<TName>, AdminPlanChange<TName>>>;
    clear: Action<TMeta, AdminTarget<TName>>;
    reset: Action<TMeta, AdminTarget<TName>>;
  }
>;

/** The input of `list`. */
export interface AdminListInput<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** Only keys for which the next call for one token, or for a slot, would be denied. @default true */
  denied?: boolean | undefined;
  /** The `next` of the page before. @default the first page */
  after?: string | undefined;
  /** Items per page: whole, 1 to 200. @default 100 */
  count?: number | undefined;
}

/** The input of `key`. */
export interface AdminKeyInput {
  /** The key. @default left out: the shared bucket */
  key?: string | undefined;
  /** Whether the key comes from a list, and is hashed already. @default false */
  stored?: boolean | undefined;
}

/** The input of `usage`. */
export interface AdminUsageInput<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** An instant of the first span, epoch ms. */
  from: number;
  /** The end, epoch ms, above `from`. */
  to: number;
  /** The length of an item, ms: a multiple of the span. @default the span */
  every?: number | undefined;
}

/** The input of `denials`. */
export interface AdminDenialsInput<TName extends string = string> {
  /** The limit. @default all limits */
  name?: TName | undefined;
  /** The number of denials: whole, 1 to 200. @default 100 */
  count?: number | undefined;
}

/** The limit that an action changes: of one `key`, or, with `all: true`, of all keys. */
export interface AdminTarget<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** The key. Required without `all`, and not allowed with `all`. */
  key?: string | undefined;
  /** Whether the key comes from a list, and is hashed already. @default false */
  stored?: boolean | undefined;
  /** All keys of the limit; for `reset`, the shared bucket alone. @default false */
  all?: boolean | undefined;
}

/** The input of `ban` and `exempt`. */
export interface AdminTimedInput<TName extends string = string> extends AdminTarget<TName> {
  /** How long, ms: whole, 1 to 10 years. @default an hour for `ban`; no end for the other actions */
  for?: number | undefined;
}

/** The input of `raise`. */
export interface AdminRaiseInput<TName extends string = string> extends AdminTimedInput<TName> {
  /** The factor by which the limit is raised: above 0, at most a million. */
  times: number;
}

/** The input of `plan`. */
export interface AdminPlanInput<TName extends string = string> extends Omit<
  AdminTimedInput<TName>,
  "name"
> {
  /** The limit. @default all limits with plans that the caller may change */
  name?: TName | undefined;
  /** One of the limiter's plans. */
  plan: string;
}

type Action<TMeta, TInput> = TRPCMutationProcedure<Definition<TMeta, TInput, AdminChange>>;
