/** The options of the admin router, and what it shows of limits and keys. The answers are plain JSON. */
import type { ShownConfig } from "../../../core/config.js";
import type {
  ConcurrencyConfig,
  LimitConfig,
  RateLimitConfig,
} from "../../../core/limit-config.js";
import type { HoldThen } from "../../../core/rows/hold.js";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { OverrideRule } from "../../limiter/types/override-types.js";
import type { AdminUsageItem } from "./usage-types.js";

/** The action of a caller of the admin router: to look, or to change something. */
export type AdminAction = "view" | Exclude<OperatorAction, "undo">;

/** The argument of `admin.authorize`. */
export interface AdminAuthorizeOptions<TContext, TName extends string> {
  /** The context of the request. */
  ctx: TContext;
  /** The action that the caller wants to take. */
  action: AdminAction;
  /**
   * The limit. `undefined` where the call is about no limit, and where there is no such limit. Also
   * `undefined` where the call is about several limits: `authorize` is then called for each limit
   * afterwards.
   */
  name: TName | undefined;
  /**
   * The key, as the caller of the router has sent it. With `stored: true`, the key of the rows, which is
   * hashed where there is a `hashKey`. `undefined` where the call is about no key, and for all keys.
   */
  key: string | undefined;
  /**
   * Whether the action is for all keys of the limit at once (`all: true`), that is, for all users. For
   * `reset`, whether it is for the shared bucket.
   */
  all: boolean;
}

/** Decides which callers may use the admin router. */
export interface RateLimitAdminOptions<TContext, TName extends string> {
  /**
   * Whether this caller may take the action. Called for each call, before the input is checked. Only
   * `true` allows a call; any other value refuses the call. A `TRPCError` that the function throws goes
   * to the caller. Any other error becomes `INTERNAL_SERVER_ERROR` without details.
   */
  authorize: (options: AdminAuthorizeOptions<TContext, TName>) => boolean | Promise<boolean>;
  /**
   * Names the caller, for the `by` of `onDecision`.
   * @default the caller is not named
   */
  actor?: ((options: { ctx: TContext }) => string | undefined) | undefined;
}

/** A limit, as the admin router shows it. */
export interface AdminLimit<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** The kind of the limit, as in the `limits` of the limiter. */
  kind: LimitConfig["kind"];
  /**
   * The config of the limit, without overrides. For a limit with plans, the config of the largest plan.
   * Slots are shown as the tokens of a window.
   */
  config: ShownConfig;
  /** The plans of the limit, in the order of the limiter; absent where it has none. */
  plans?: AdminPlan[];
  /** Whether the limit counts its usage. */
  usage: boolean;
  /** The length of a span of usage, ms. */
  usageEvery?: number;
  /** Whether calls may hold tokens of the limit. */
  holds: boolean;
  /** Whether the limit can be overridden: `ban`, `exempt`, `raise`, `give`, `plan` and `clear`. */
  overrides: boolean;
}

/** The terms of a limit under a plan. */
export interface AdminPlan {
  /** The name of the plan. */
  plan: string;
  /** The config; `"unlimited"` where every call passes, and `"none"` where every call is denied. */
  terms: RateLimitConfig | ConcurrencyConfig | "unlimited" | "none";
}

/** The answer of `limits`. */
export interface AdminLimits<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** Whether keys are stored as hashes. If so, lists show hashes instead of keys. */
  hashed: boolean;
  /** Present while the limits are switched off (`enabled`): every call passes. */
  disabled?: true;
  /**
   * The actions that this caller may take at all. A single call can still be refused for its name or key.
   */
  actions: AdminAction[];
  /** The limits that this caller may view, in the order of the limiter. */
  limits: AdminLimit<TName>[];
}

/** The override of a key, or of all keys: an override of `limiter.overrides`, as JSON. */
export type AdminOverride<TName extends string = string> = OverrideRule & {
  /** The limit. */
  name: TName;
  /** The key of the rows, hashed where there is a `hashKey`; absent for all keys of the limit. */
  key?: string | undefined;
  /** When the override ends, epoch ms; absent for never. */
  until?: number | undefined;
  /** When the override was set, epoch ms. */
  setAt: number;
};

/** One key of a limit, and the content of its bucket. */
export interface AdminItem {
  /** The key of the rows, hashed where there is a `hashKey`; absent for the shared bucket. */
  key?: string | undefined;
  /** The tokens at `ts`; the free slots of a limit of `kind: "concurrency"`. */
  value: number;
  /** Epoch ms: the present instant, or the start of the present window. */
  ts: number;
  /**
   * The plan that counts now: the plan of an override, or else the answer of the limiter's `plan`
   * function. Absent for a limit without plans, and where neither of the two says the plan. The config is
   * then the config of the largest plan.
   */
  plan?: string | undefined;
  /** The config that counts now, overrides included. */
  config: ShownConfig;
  /** The limiter's clock when the state was read, epoch ms. */
  now: number;
  /**
   * Whole ms until a call for one token would pass; 8e15 for never. Absent where such a call would pass
   * now.
   */
  retryAfter?: number | undefined;
  /**
   * Since when calls are denied, epoch ms, if known. For a ban, when it was set. For a token bucket of
   * one row, when the row was last written. Otherwise, the oldest denial in the present window that this
   * process still knows.
   */
  since?: number | undefined;
  /** Tokens that calls hold, for a limit with holds. `value` does not contain held tokens. */
  held?: number | undefined;
  /** The override that is in force for the key. */
  override?: AdminOverride | undefined;
}

/** One page of `list`. */
export interface AdminPage {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** One item per key. */
  items: AdminItem[];
  /** The `after` of the next page; absent on the last one. */
  next?: string | undefined;
}

/** A row as it is stored. */
export interface AdminRow {
  /** The index of the shard or slot, from 0. */
  shard: number;
  /**
   * The tokens used at `ts`, below 0 where tokens are owed. For slots, a number that only the package
   * reads.
   */
  used: number;
  /** When `used` was true, epoch ms. */
  ts: number;
}

/** Tokens that a call holds. */
export interface AdminHold {
  /** The id of the call, hashed where there is a `hashKey`. */
  once: string;
  /** Tokens held. */
  count: number;
  /** Whether the tokens stay charged or come back when the hold lapses. */
  then: HoldThen;
  /** When the hold lapses, epoch ms. */
  until: number;
}

/** The slots of one key. */
export interface AdminSlots {
  /** How many slots may be held at a time. */
  slots: number;
  /** For each held slot, when the slot is free if its holder stops renewing it, epoch ms, ascending. */
  holders: number[];
  /** The number of callers that wait in line. */
  waiting: number;
}

/** One limit of a key. */
export interface AdminKeyLimit<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** The content of the bucket. Without rows, the content of a new bucket. */
  item: AdminItem;
  /** The rows as they are stored; empty for a key without rows. */
  rows: AdminRow[];
  /**
   * The open holds, for a limit with holds: the 200 that lapse first, in the order in which they lapse.
   */
  holds?: AdminHold[] | undefined;
  /** The slots, for a limit of slots. */
  slots?: AdminSlots | undefined;
  /**
   * The overrides of exactly this key; without a key, those of all keys. Each lies over those after it, so
   * the first is the one that counts.
   */
  overrides?: AdminOverride[] | undefined;
  /** The usage of the last 24 hours, for a limit with usage. */
  usage?: AdminUsageItem[] | undefined;
}

/** The answer of `key`. */
export interface AdminKey<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The key of the rows, hashed where there is a `hashKey`; absent for the shared bucket. */
  key?: string | undefined;
  /** The limits that this caller may view for this key, in the order of the limiter. */
  limits: AdminKeyLimit<TName>[];
  /**
   * With the input `near`, for a key that a person has typed and that has neither a row nor an override: at
   * most 8 keys with rows that begin with it, also in other letter case and without spaces around it. Absent
   * for other keys, and where keys are hashed. Only keys that this caller may view.
   */
  near?: string[];
}
