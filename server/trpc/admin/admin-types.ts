/** What the admin router is given, and what it answers. Its answers are plain JSON. */
import type { ShownConfig } from "../../../core/config.js";
import type {
  ConcurrencyConfig,
  LimitConfig,
  RateLimitConfig,
} from "../../../core/limit-config.js";
import type { Usage } from "../../../core/usage.js";
import type { HoldThen } from "../../../core/rows/hold.js";
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { OverrideRule } from "../../limiter/types/override-types.js";

/** What a caller of the admin router wants to do: to look, or to change something. */
export type AdminAction = "view" | OperatorAction;

/** The argument of `admin.authorize`. */
export interface AdminAuthorizeOptions<TContext, TName extends string> {
  /** The context of the request. */
  ctx: TContext;
  /** What the caller wants to do. */
  action: AdminAction;
  /**
   * The limit; `undefined` where the call is about no limit or about several ones, of which each is asked
   * for afterwards, and where there is no such limit.
   */
  name: TName | undefined;
  /**
   * The key, as the caller of the router has sent it: with `stored: true` that of the rows, which is
   * hashed where there is a `hashKey`. `undefined` where the call is about no key, and for all keys.
   */
  key: string | undefined;
  /**
   * Whether the action is for all keys of the limit at once (`all: true`), and so for all users; of
   * `reset`, for the shared bucket.
   */
  all: boolean;
}

/** Who may use the admin router. */
export interface RateLimitAdminOptions<TContext, TName extends string> {
  /**
   * Whether this caller may do it. It is asked for each call, before the input is checked, and has to
   * return `true` itself: nothing else allows anything. A `TRPCError` that it throws is what the caller
   * gets. Any other error of it is `INTERNAL_SERVER_ERROR` without details.
   */
  authorize: (options: AdminAuthorizeOptions<TContext, TName>) => boolean | Promise<boolean>;
  /**
   * Who the caller is, for the `by` of `onDecision`.
   * @default nobody is named
   */
  actor?: ((options: { ctx: TContext }) => string | undefined) | undefined;
}

/** A limit, as the admin router shows it. */
export interface AdminLimit<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** Its kind, as it is written in `limits`. */
  kind: LimitConfig["kind"];
  /**
   * Its own config, without overrides; with plans, that of the largest. Slots are shown as the tokens of a
   * window.
   */
  config: ShownConfig;
  /** Its plans, in the order of the limiter; absent where it has none. */
  plans?: AdminPlan[];
  /** Whether it counts its usage. */
  usage: boolean;
  /** The length of a span of its usage, ms. */
  usageEvery?: number;
  /** Whether calls may hold its tokens. */
  holds: boolean;
  /** Whether it can be overridden: `ban`, `exempt`, `raise`, `plan` and `clear`. */
  overrides: boolean;
}

/** What a plan has of a limit. */
export interface AdminPlan {
  /** The name of the plan. */
  plan: string;
  /** Its config; `"unlimited"` where every call passes, and `"none"` where every call is denied. */
  terms: RateLimitConfig | ConcurrencyConfig | "unlimited" | "none";
}

/** The answer of `limits`. */
export interface AdminLimits<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** Whether keys are stored as hashes. Then no list shows the keys that people know. */
  hashed: boolean;
  /** What this caller may do at all. A single call can still be refused by its name or key. */
  actions: AdminAction[];
  /** The limits that this caller may view, in the order of the limiter. */
  limits: AdminLimit<TName>[];
}

/** The override of a key, or of all keys: that of `limiter.overrides`, as it arrives in JSON. */
export type AdminOverride<TName extends string = string> = OverrideRule & {
  /** The limit. */
  name: TName;
  /** The key of its rows, hashed where there is a `hashKey`; absent for all keys of the limit. */
  key?: string | undefined;
  /** When it ends, epoch ms; absent for never. */
  until?: number | undefined;
  /** When it was set, epoch ms. */
  setAt: number;
};

/** One key of a limit, and what its bucket holds. */
export interface AdminItem {
  /** The key of the rows, hashed where there is a `hashKey`; absent for the shared bucket. */
  key?: string | undefined;
  /** The tokens at `ts`; the free slots of a limit of `kind: "concurrency"`. */
  value: number;
  /** Epoch ms: the present instant, or the start of the present window. */
  ts: number;
  /**
   * The plan that counts now: that of an override, or else what the limiter's own `plan` function says.
   * Absent for a limit without plans, and where nothing says the plan: the largest is shown then.
   */
  plan?: string | undefined;
  /** The config that counts now, overrides included. */
  config: ShownConfig;
  /** The limiter's clock when the state was read, epoch ms. */
  now: number;
  /** Whole ms until a call for one token would pass; 8e15 for never. Absent where it passes now. */
  retryAfter?: number | undefined;
  /**
   * Since when calls are denied, epoch ms, where that is known: when a ban was set; when a token bucket of
   * one row was last written; of a window, the oldest denial in it that this process still knows.
   */
  since?: number | undefined;
  /** Tokens that calls hold, of a limit with holds. They are not in `value`. */
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
  /** Which of the shards or slots it is, from 0. */
  shard: number;
  /** What was used at `ts`, below 0 where it is owed. Of slots, a number that only the package reads. */
  used: number;
  /** When that was true, epoch ms. */
  ts: number;
}

/** Tokens that a call holds. */
export interface AdminHold {
  /** The id of the call, hashed where there is a `hashKey`. */
  once: string;
  /** Tokens held. */
  count: number;
  /** What becomes of them when the hold lapses. */
  then: HoldThen;
  /** When it lapses, epoch ms. */
  until: number;
}

/** The slots of one key. */
export interface AdminSlots {
  /** How many may be held at a time. */
  slots: number;
  /** When each slot that is held is free if its holder falls silent, epoch ms, ascending. */
  holders: number[];
  /** How many callers wait in line. */
  waiting: number;
}

/** What was counted in one span. */
export interface AdminUsageItem extends Usage {
  /** Its start, epoch ms. */
  start: number;
  /** Its end, epoch ms. */
  end: number;
}

/** One limit of a key. */
export interface AdminKeyLimit<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** What the bucket holds. Without rows, what a new one would hold. */
  item: AdminItem;
  /** The rows as they are stored; none for a key that has none. */
  rows: AdminRow[];
  /** The open holds, of a limit with holds: at most 200, those that lapse first before the others. */
  holds?: AdminHold[] | undefined;
  /** Of a limit of slots. */
  slots?: AdminSlots | undefined;
  /** The override of exactly this key; without a key, that of all keys. */
  override?: AdminOverride | undefined;
  /** What was counted in the last 24 hours, of a limit with usage. */
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
}

/** The answer of `usage`. */
export interface AdminUsage {
  /** In order, without gaps. */
  items: AdminUsageItem[];
  /**
   * Where the numbers come from: from `limiter.usage`, of all processes, or from the decisions that this
   * process has made since `since`, of which the givings-back are not known.
   */
  source: "usage" | "process";
  /** From when on the numbers are complete, epoch ms. */
  since: number;
}

/** A call that was denied. */
export interface AdminDenial<TName extends string = string> {
  /** When, epoch ms. */
  at: number;
  /** The limit. */
  name: TName;
  /** The key of its rows, hashed where there is a `hashKey`; absent for the shared bucket. */
  key?: string | undefined;
  /** The tokens that it wanted. */
  count: number;
  /** Whole ms that it was told to wait; 8e15 for never. */
  retryAfter: number;
}

/** The answer of `denials`. */
export interface AdminDenials<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** From when on the list is complete, epoch ms. */
  since: number;
  /** The newest first. */
  items: AdminDenial<TName>[];
}

/** The answer of each action but `plan`. */
export interface AdminChange {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The bucket after it; of an action on all keys, the shared one. */
  item: AdminItem;
  /** The override of exactly this key, or of all keys, that is in force after it. */
  override?: AdminOverride | undefined;
}

/** The answer of `plan`. */
export interface AdminPlanChange<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The limits that were changed, in the order of the limiter. */
  changes: (AdminChange & {
    /** The limit. */
    name: TName;
  })[];
}
