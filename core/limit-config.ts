/**
 * The config of a limit, as users write it: how fast tokens come, and how many may be held. Token
 * buckets, fixed windows and the names of their options are those of Convex's rate limiter.
 */
interface CommonConfig {
  /** Tokens added per `period`. Finite and above 0; fractions are fine (`1 / 3`). */
  rate: number;
  /**
   * The most tokens that can be held: the largest burst. Finite and at least 0. With a capacity below
   * 1, only calls with a `count` up to the capacity can pass. With 0, every call needs `reserve`.
   * @default rate
   */
  capacity?: number;
  /**
   * The most tokens that reservations may owe. Finite and at least 0. 0 allows no reservation.
   * @default unlimited
   */
  maxReserved?: number;
  /**
   * How many rows share the limit, each with an equal part of its rate and capacity. Whole, 1 to
   * 1,000. More shards mean less contention; a call uses two of them.
   * @default 1
   */
  shards?: number;
  /**
   * Closes the bucket when a call is denied, for at least that long: whole ms, at least 1. Tokens
   * that were left are lost. A token bucket is empty when it opens. A fixed window stays closed until
   * the first window that starts after that time. The bucket opens at that instant, whatever config
   * reads it. Further denials neither extend the closing nor start another one, until a call has been
   * granted again. A bucket in debt is not closed. Two kinds of denials close nothing: a denial for the
   * call's `maxWait`, and a denial in a transaction that is rolled back. Not with `shards`.
   *
   * A list makes each closing longer than the one before: `[MINUTE, 5 * MINUTE, 15 * MINUTE]` closes
   * for a minute, then for five, and for fifteen from the third time on. Each entry is at least as
   * long as the one before it; at most 100 of them. A second row counts the closings, until
   * `forgiveAfter` or a `reset`.
   * @default none: a denied call changes nothing
   */
  blockFor?: number | readonly number[];
  /**
   * The quiet time after which a list of `blockFor` begins anew, ms: whole, at least 1. The time counts
   * from the end of the last closing, and starts again with each closing. Only with such a list.
   * @default the last entry of `blockFor`
   */
  forgiveAfter?: number | undefined;
  /**
   * How long the id of a call with `once` is remembered, ms: whole, at least 1. Within that time a
   * call with the same id takes nothing. Not with `shards`. Clients never see this option.
   * @default the limiter's `onceFor`
   */
  onceFor?: number | undefined;
  /**
   * Whether calls may hold their tokens under an id (`hold`), to be settled later by any process. A
   * denied call then also looks for holds that have lapsed. Not with `shards` or `blockFor`. Clients
   * never see this option.
   * @default false
   */
  holds?: boolean | undefined;
  /**
   * Counts the use of each key, for `limiter.usage`: `true`, or the length of a span and how long spans
   * are kept. A key then has at most 174 characters, as stored. Clients never see this option.
   * @default false
   */
  usage?: boolean | UsageConfig | undefined;
  /**
   * The levels of use at which listeners are warned (`limiter.onWarning`): rising parts of the capacity,
   * above 0 and up to 1, in whole thousandths, such as `[0.8, 1]`. At most 10.
   *
   * A level is crossed by the call after which so much is used, once per window. Of a token bucket, a
   * level can be crossed again after the use fell below half of it. A denied call crosses no level. A key
   * then has at most 145 characters, as stored. Not with `shards`.
   * @default none
   */
  warnAt?: readonly number[] | undefined;
  /**
   * Decides and reports, and denies no call: `limit` and `check` answer `ok`, and their `shadow`
   * says the answer of a limit that denies. The rows are those of a limit that denies, too.
   * @default false
   */
  shadow?: boolean;
  /**
   * The answer of `limit` and `check` in an outage of the store: an error, or `ok` with
   * `storeFailed`. A store that is only too busy for a call is no outage, and the call fails. In an
   * outage, `acquire` does not wait, `limitAll` is `ok` where all of its limits have `"allow"`, and
   * calls in transactions fail. With `"allow"`, an attacker who can overload the database gets past
   * the limit. Clients never see this option.
   * @default "fail"
   */
  whenStoreFails?: "fail" | "allow";
  /**
   * How long a process may repeat a denial of `limit` from memory, without asking the store: whole
   * ms, at least 0. The time counts from when the denied call was sent, and ends no later than the
   * `retryAfter` of the denial. Calls of the same key for at least as many tokens get the same denial,
   * with `remembered`.
   *
   * The price: such a call can be denied for too long, by at most this time. That happens after another
   * process has given tokens back, has reset the bucket, or has used it with another config. With more
   * than two `shards`, it also happens while shards that the denied call did not see have tokens.
   *
   * Memory never answers `acquire`, `check`, `limitAll`, calls in transactions or a shadow. Memory
   * answers for a limit with `blockFor` only while the bucket is closed. Clients never see this option.
   * @default the limiter's `rememberDenials`
   */
  rememberDenials?: number;
  /**
   * Lets each process take tokens in blocks, and serve calls of `limit` from its memory. For a limit
   * that many calls share, in processes that live long. Nothing is over-admitted. The price is a part
   * of the burst: the tokens that come in `ms`. The capacity has to be more than those. Not with
   * `blockFor`, `shards`, or days, weeks and months. A call's own config needs a `lease` of its own.
   * Without effect on Cloudflare Workers. Clients never see this option.
   * @default none: every call asks the store
   */
  lease?: LeaseConfig | undefined;
}

/** How usage is counted; see `usage` of a limit. */
export interface UsageConfig {
  /**
   * The length of a span, ms: whole, from a minute to a day, and a day has to be a multiple of it. The
   * first span of a day begins at midnight UTC. A row is written per key and span, so longer spans cost
   * less. After a change of `every`, usage that was counted in spans of the old length is not found.
   * @default an hour
   */
  every?: number | undefined;
  /**
   * How long a span is kept after its end, ms: whole, at least `every`. `prune` deletes it later.
   * @default 90 days
   */
  keep?: number | undefined;
  /**
   * Whether `limiter.usageChanges` tells the spans of this limit, such as for an export to a meter. Costs
   * a row more per key and span. What comes more than a minute after the end of its span then counts in
   * the span in which it comes, so that no span changes that was told.
   * @default false
   */
  changes?: boolean | undefined;
}

/** How a process takes tokens in blocks; see `lease` of a limit. */
export interface LeaseConfig {
  /**
   * How long a block of a token bucket lives, ms: whole, 10 to 60,000. Tokens that are left in the block
   * at its end are lost. A block of a fixed window ends with its window. A block has about as many
   * tokens as this process needs in that time.
   */
  ms: number;
}

/** Tokens come continuously, `rate` per `period`, up to `capacity`. */
export interface TokenBucketConfig extends CommonConfig {
  /** Tokens come continuously, `rate` per `period`, up to `capacity`. */
  kind: "token bucket";
  /** Length of a period in whole ms, at least 1. See `SECOND`, `MINUTE`, `HOUR`, `DAY`. */
  period: number;
}

/** The options of fixed windows of every length. Users write a {@link FixedWindowConfig}. */
export interface AnyFixedWindow extends CommonConfig {
  /** `rate` tokens come at the start of each window of `period`, up to `capacity`. */
  kind: "fixed window";
  /**
   * Length of a window in whole ms, at least 1; or `"day"`, `"week"` or `"month"` of the calendar in
   * `timeZone`. Such a window starts at midnight, or with the first instant of a day whose midnight
   * a change of the clock leaves out.
   *
   * Without `timeZone`, months are in UTC. Such months start on the day and at the time of `start`. A
   * month that lacks that day starts on its last day.
   */
  period: number | "day" | "week" | "month";
  /**
   * The time zone of days, weeks and months: a name of the IANA database, such as `"Europe/Berlin"`,
   * and not an offset. Only with such a `period`. When the zone changes, as with a caller's own zone, a
   * bucket in use gets no new tokens until the present window of the new zone has ended, and one more
   * window after that: a new zone must not refill the bucket.
   * @default "UTC"
   */
  timeZone?: string | undefined;
  /**
   * The first day of the week, from 0, which is Sunday, to 6. Only with `period: "week"`.
   * @default 1, Monday
   */
  weekStart?: 0 | 1 | 2 | 3 | 4 | 5 | 6 | undefined;
  /**
   * An instant at which a window starts, epoch ms, such as the first billing date. The other windows
   * follow in steps of `period`. Give an instant that never moves: months from 28 February stay on the
   * 28th. Whole and finite. `0` aligns days with midnight UTC, and months with the first of each month.
   * With `0`, weeks begin on Thursday; with `4 * DAY`, they begin on Monday. Not with `timeZone`, and
   * not with days and weeks of the calendar.
   *
   * A bucket in use keeps its windows when `start` or `period` changes; months keep the day of the
   * month. A new `start` must not refill the bucket. `reset` it to begin the new windows.
   * @default an offset derived from name and key, so that limits do not all refill at once
   */
  start?: number | undefined;
  /**
   * How a bucket that a denial has closed (`blockFor`) opens. Only with `blockFor`.
   *
   * - `"next window"`: with the first of its windows that starts after that time, which can be a
   *   whole `period` later.
   * - `"new window"`: at the end of that time, to the ms. A window starts there, and has its `rate` of
   *   tokens. The windows after that one follow in steps of `period`. So each block brings up to `rate`
   *   tokens more: in any span, a caller who keeps failing gets `rate` tokens per `blockFor`. Not
   *   with days, weeks or months of the calendar, and not for token buckets, which refill little by little.
   * @default "next window"
   */
  afterBlock?: "next window" | "new window" | undefined;
}

/** Fixed windows of a number of ms. */
export interface PeriodWindowConfig extends AnyFixedWindow {
  /** Length of a window in whole ms, at least 1. */
  period: number;
  /** Only for days, weeks and months. */
  timeZone?: undefined;
  /** Only for weeks. */
  weekStart?: undefined;
}

/** Fixed windows that are days, weeks or months of the calendar. */
export interface CalendarWindowConfig extends AnyFixedWindow {
  /** A window is a day, a week or a month of the calendar in `timeZone`. */
  period: "day" | "week" | "month";
}

/** `rate` tokens come at the start of each window of `period`, up to `capacity`. */
export type FixedWindowConfig = PeriodWindowConfig | CalendarWindowConfig;

/** The config of one limit whose tokens come by themselves: a token bucket, or a fixed window. */
export type RateLimitConfig = TokenBucketConfig | FixedWindowConfig;

/**
 * Slots: how many calls may run at a time, such as two generations per user. A call enters with
 * `limiter.enter`, and holds its slot until the call releases the slot.
 */
export interface ConcurrencyConfig {
  /** Slots: how many calls may run at a time. */
  kind: "concurrency";
  /** How many callers may hold a slot of one key at a time: whole, 1 to 1,000. */
  slots: number;
  /**
   * How long a slot stays held after its holder has died, ms: whole, 1,000 to 600,000. Holders renew
   * their slot three times in that time. A process that stands still for longer loses its slot.
   * @default 30_000
   */
  ttl?: number | undefined;
}

/**
 * Credits: a balance that only `credit()` raises, such as credits that users buy. The balance is 0 at
 * first, and no call takes it below 0.
 */
export interface CreditsConfig {
  /** Credits: tokens that only `credit()` adds. */
  kind: "credits";
  /**
   * The most tokens that a balance holds: above 0, and at most 2^53. `credit()` adds no more than
   * that. A lower capacity takes away the credits above it, at the next write to the balance.
   * @default 2^53
   */
  capacity?: number;
  /** Decides and reports, and denies no call; see `shadow` of a limit. @default false */
  shadow?: boolean;
  /** The answer of `limit` and `check` in an outage; see `whenStoreFails` of a limit. @default "fail" */
  whenStoreFails?: "fail" | "allow";
  /**
   * How long a process may repeat a denial of `limit` from memory, ms; see `rememberDenials` of a
   * limit. Credits that another process adds meanwhile are seen up to that much later.
   * @default the limiter's `rememberDenials`
   */
  rememberDenials?: number;
  /** How long the ids of calls with `once` are remembered, ms; see `onceFor` of a limit. */
  onceFor?: number | undefined;
  /** Whether calls may hold their credits under an id; see `holds` of a limit. @default false */
  holds?: boolean | undefined;
  /** Counts the use of each key; see `usage` of a limit. @default false */
  usage?: boolean | UsageConfig | undefined;
}

/** The config of one limit: of tokens, of credits or of slots. */
export type LimitConfig = RateLimitConfig | CreditsConfig | ConcurrencyConfig;

/** A limit of any kind, for code that asks for an option which only some of the kinds have. */
export type AnyLimit = { kind: LimitConfig["kind"] } & {
  [TOption in Exclude<keyof AnyOptions, "kind">]?: AnyOptions[TOption] | undefined;
};

type AnyOptions = Omit<AnyFixedWindow, "kind"> & ConcurrencyConfig;
