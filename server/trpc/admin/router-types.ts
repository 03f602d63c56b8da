/** The type of the admin router, written down for the same reason as the type of `router`. */
import type { TRPCMutationProcedure, TRPCQueryProcedure } from "@trpc/server";
import type { BuiltRouter, DefaultErrorShape, Definition } from "../trpc-types.js";
import type { OverrideKind } from "../../limiter/types/override-types.js";
import type { AdminChange, AdminChanges, AdminOverrides, AdminPlanChange } from "./change-types.js";
import type { AdminDenials, AdminTop, AdminUsage } from "./usage-types.js";
import type { AdminKey, AdminLimits, AdminPage } from "./admin-types.js";

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
    top: TRPCQueryProcedure<Definition<TMeta, AdminTopInput<TName>, AdminTop<TName>>>;
    ban: Action<TMeta, AdminTimedInput<TName>>;
    exempt: Action<TMeta, AdminTimedInput<TName>>;
    raise: Action<TMeta, AdminRaiseInput<TName>>;
    give: Action<TMeta, AdminGiveInput<TName>>;
    plan: TRPCMutationProcedure<Definition<TMeta, AdminPlanInput<TName>, AdminPlanChange<TName>>>;
    clear: Action<TMeta, AdminClearInput<TName>>;
    reset: Action<TMeta, AdminTarget<TName>>;
    overrides: TRPCQueryProcedure<
      Definition<TMeta, AdminOverridesInput<TName> | void, AdminOverrides<TName>>
    >;
    changes: TRPCQueryProcedure<
      Definition<TMeta, AdminChangesInput<TName> | void, AdminChanges<TName>>
    >;
    undo: TRPCMutationProcedure<Definition<TMeta, AdminUndoInput, AdminUndone<TName>>>;
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
  /**
   * Whether to search for keys that are like this one, where nothing is stored of it. The search lists keys
   * of each limit, so a page should ask for it once. @default false
   */
  near?: boolean | undefined;
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

/** The input of `top`. */
export interface AdminTopInput<TName extends string = string> {
  /** The limit. @default all limits that the caller may view */
  name?: TName | undefined;
  /** An instant of the first span, epoch ms. */
  from: number;
  /** The end, epoch ms, above `from`. */
  to: number;
  /** What the keys are sorted by: calls that were denied, or tokens that were taken. */
  by: "denied" | "taken";
  /** The number of keys: whole, 1 to 200. @default 20 */
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
  /** Why, for the log of changes: at most 200 characters. @default not said */
  why?: string | undefined;
}

/** The input of `clear`. */
export interface AdminClearInput<TName extends string = string> extends AdminTarget<TName> {
  /** The kind of override to end. @default all kinds */
  only?: OverrideKind | undefined;
}

/** The input of `ban` and `exempt`. */
export interface AdminTimedInput<TName extends string = string> extends AdminTarget<TName> {
  /** How long, ms: whole, 1 to 10 years. @default an hour for `ban`; no end for the other actions */
  for?: number | undefined;
  /** When it ends, in place of `for`: epoch ms, whole, still to come. @default as `for` says */
  until?: number | undefined;
}

/** The input of `give`. */
export interface AdminGiveInput<TName extends string = string> extends AdminTimedInput<TName> {
  /** So many tokens more: above 0. See the `add` of an override. */
  add: number;
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

/** The input of `overrides`. */
export interface AdminOverridesInput<TName extends string = string> {
  /** The limit. @default all limits that the caller may view */
  name?: TName | undefined;
  /** The number of overrides: whole, 1 to 200. @default 100 */
  count?: number | undefined;
}

/** The input of `changes`. */
export interface AdminChangesInput<TName extends string = string> {
  /** The limit. @default all limits that the caller may view */
  name?: TName | undefined;
  /** Only changes of this key. @default changes of all keys */
  key?: string | undefined;
  /** Whether the key comes from a list, and is hashed already. @default false */
  stored?: boolean | undefined;
  /** Only changes before this instant, epoch ms. @default no bound */
  before?: number | undefined;
  /** The number of changes: whole, 1 to 200. @default 100 */
  count?: number | undefined;
}

/** The input of `undo`. The caller needs the right to the action that is undone. */
export interface AdminUndoInput {
  /** The `id` of a change. */
  id: string;
  /** Why, for the log of changes: at most 200 characters. @default not said */
  why?: string | undefined;
}

/** The answer of `undo`. */
export interface AdminUndone<TName extends string = string> extends AdminChange {
  /** The limit. */
  name: TName;
}

type Action<TMeta, TInput> = TRPCMutationProcedure<Definition<TMeta, TInput, AdminChange>>;
