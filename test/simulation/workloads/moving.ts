/**
 * A caller whose bucket no other caller uses, on a clock that only this caller moves. So it is known
 * exactly how much has refilled. Full rows are deleted while the caller calls, which changes no answer.
 */
import type {
  PlannedConfig,
  PlanRate,
  RateLimitConfig,
  RateLimiter,
  RateLimitResult,
} from "../../../server/index.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";
import { OwnBucket } from "./own-bucket.js";
import type { Change, Effect } from "./possible.js";
import type { Random } from "../random.js";

/**
 * The state of a bucket, whatever config reads it; `null` for an unused bucket.
 *
 * - `used`: `tokens` tokens are not refilled yet. For a config with fewer tokens, all of its tokens are
 *   used.
 * - `owed`: all tokens of any config are used, and `tokens` more.
 * - `closed`: closed until `ts`, with no tokens left then.
 */
export type Row =
  { kind: "used" | "owed"; tokens: number; ts: number } | { kind: "closed"; ts: number } | null;

/** The tokens that are left for a config, and since when. */
export interface Left {
  value: number;
  ts: number;
}

/** The rules of a kind of limit, calculated independently. All numbers are exact. */
export interface Rules {
  what: string;
  /** The plans share the bucket, from call to call. No call announces a change of the plan. */
  limit: Exclude<PlannedConfig, { kind: "concurrency" }> & {
    plans: Readonly<Record<string, PlanRate>>;
  };
  /** When the caller begins, epoch ms. */
  start: number;
  /** By how much the clock moves on, ms. */
  advance(random: Random, now: number): number;
  /** The instant to which the tokens left refer. For a window, its start. */
  at(now: number): number;
  /** The tokens that have refilled since an instant. */
  refilled(ts: number, config: RateLimitConfig, now: number): number;
  /** Since when this many tokens have refilled, for kinds whose tokens come one by one. */
  since?(tokens: number, config: RateLimitConfig, now: number): number;
  /** ms until taking `least` from what is left leaves 0 tokens. */
  wait(left: Left, config: RateLimitConfig, now: number, least: number): number;
  /** The row after a denial. @default the row as it was */
  closes?(row: Row, now: number): Row;
}

export function createMoving(rules: Rules): Workload {
  return (caller) => new Moving(caller, rules).run();
}

/** One plan of the limit. */
interface Plan {
  /** Calls name their plan by this. */
  name: string;
  /** The model calculates with this config. */
  config: RateLimitConfig;
}

function plansOf({ limit: { plans, ...shared } }: Rules): Plan[] {
  return Object.entries<PlanRate>(plans).map(([name, own]) => ({
    name,
    config: { ...shared, ...own } as RateLimitConfig,
  }));
}

/** The meaning of a row for a config. */
class Reading {
  readonly capacity: number;
  readonly isClosed: boolean;
  /** The tokens that are used of the config's own, plus the tokens owed beyond them. */
  readonly used: number;
  readonly ts: number;
  /** The use by a larger config, which is more than this config has. */
  readonly larger: { tokens: number; ts: number; refilled: number } | undefined;

  constructor(
    row: Row,
    readonly config: RateLimitConfig,
    readonly now: number,
    readonly rules: Rules,
  ) {
    const capacity = config.capacity ?? config.rate;
    this.capacity = capacity;
    this.isClosed = row?.kind === "closed" && now < row.ts;
    this.ts = this.isClosed ? row!.ts : rules.at(now);
    const refilled = row === null || this.isClosed ? 0 : rules.refilled(row.ts, config, now);
    const before = usedBefore(row, capacity);
    const isOfLarger = row?.kind === "used" && before > capacity;
    if (isOfLarger) this.larger = { tokens: before, ts: row.ts, refilled };
    this.used = Math.max(0, (isOfLarger ? capacity : before) - refilled);
  }

  get value(): number {
    return this.capacity - this.used;
  }

  /** The row after this many of the config's own tokens are used. */
  after(used: number): Row {
    const { capacity, ts } = this;
    return used > capacity
      ? { kind: "owed", tokens: used - capacity, ts }
      : { kind: "used", tokens: used, ts };
  }

  /** The row after `count` more tokens are used. Use by a larger config stays used. */
  withMore(count: number): Row {
    const { larger, capacity, config, rules, now } = this;
    const used = this.used + count;
    if (larger === undefined) return this.after(used);
    if (rules.since === undefined) {
      // A new window refills both configs.
      if (larger.refilled > 0) return this.after(used);
      return { kind: "used", tokens: larger.tokens + count, ts: larger.ts };
    }
    // Tokens beyond this config's capacity have refilled for the larger config.
    const spilled = Math.max(0, larger.refilled - capacity);
    const tokens = larger.tokens - spilled + Math.max(0, used - capacity);
    const left = Math.max(0, capacity - used);
    return tokens > capacity
      ? { kind: "used", tokens, ts: rules.since(left, config, now) }
      : this.after(used);
  }
}

/** How many tokens are used by a row, at the row's own instant. */
function usedBefore(row: Row, capacity: number): number {
  if (row === null) return 0;
  if (row.kind === "closed") return capacity;
  return row.kind === "owed" ? capacity + row.tokens : row.tokens;
}

class Moving {
  readonly bucket: OwnBucket<Row>;
  readonly #name: string;
  readonly #limiter: RateLimiter;
  readonly #plans: readonly Plan[];
  #now: number;

  constructor(
    readonly caller: Caller,
    readonly rules: Rules,
  ) {
    const { member, random } = caller;
    this.bucket = new OwnBucket<Row>(caller, null);
    // The limit has a name of its own, because a prune by one clock would be wrong for callers with
    // another clock.
    this.#name = `moving ${member.id} ${random.below(2 ** 31)}`;
    this.#now = rules.start;
    this.#plans = plansOf(rules);
    this.#limiter = member.limiter({ [this.#name]: rules.limit }, () => this.#now);
  }

  async run(): Promise<void> {
    const { caller, bucket, rules } = this;
    const { random, member } = caller;
    while (caller.isOn()) {
      bucket.renew();
      if (random.chance(0.6)) this.#now += rules.advance(random, this.#now);
      const plan = random.pick(this.#plans);
      const { rate, capacity = rate } = plan.config;
      // A larger plan takes more at once, so that it often uses more than a smaller plan has.
      const count = random.between(1, Math.max(4, Math.floor(capacity / 4)));
      const dice = random.next();
      if (dice < 0.4) await this.#limit(plan, count);
      else if (dice < 0.5) await this.#charge(plan, count);
      else if (dice < 0.6) await this.#refund(plan, count);
      else if (dice < 0.72) await this.#look(plan);
      else if (dice < 0.82) await this.#prune(plan, count);
      else if (dice < 0.88) await this.#list(plan);
      else if (dice < 0.94) await this.#delete("reset");
      else await this.#delete("forget");
      if (random.chance(0.3)) await member.sleep(random.below(50));
    }
  }

  /** @param until ends before the call counts as ended. */
  async #limit(plan: Plan, count: number, until?: Promise<void>): Promise<void> {
    const { key } = this.bucket;
    const { config } = plan;
    const { maxReserved } = config;
    const reserve = maxReserved !== undefined && this.caller.random.chance(0.5);
    const floor = reserve ? -maxReserved : 0;
    const now = this.#now;
    await this.bucket.step({
      what: `${this.rules.what}: ${reserve ? "reserve" : "limit"}`,
      most: until === undefined ? 2000 : 20_000,
      run: async () => {
        const call = this.#limiter.limit(this.#name, { key, plan: plan.name, count, reserve });
        await Promise.allSettled([call, until]);
        const result = await call;
        return this.#answered(config, count, floor, result);
      },
      lost: [(row) => this.#take(row, config, now, count, floor).row],
    });
  }

  #read(row: Row, config: RateLimitConfig, now = this.#now): Reading {
    return new Reading(row, config, now, this.rules);
  }

  #take(row: Row, config: RateLimitConfig, now: number, count: number, floor: number) {
    const { rules } = this;
    const held = this.#read(row, config, now);
    const used = held.used + count;
    const value = held.capacity - used;
    if (!held.isClosed && value >= floor) {
      const { ts } = held;
      const waits = value < 0 ? rules.wait({ value, ts }, config, now, 0) : undefined;
      // Tokens that must be waited for are owed, whatever a larger config has used.
      return { ok: true, value, waits, row: value < 0 ? held.after(used) : held.withMore(count) };
    }
    const after = rules.closes?.(row, now) ?? row;
    const left = this.#read(after, config, now);
    return {
      ok: false,
      value: left.value,
      waits: rules.wait(left, config, now, count + floor),
      row: after,
    };
  }

  #answered(
    config: RateLimitConfig,
    count: number,
    floor: number,
    { ok, value, retryAfter }: RateLimitResult,
  ): Effect<Row> {
    const now = this.#now;
    this.bucket.saw =
      `${count} tokens of ${JSON.stringify(config)} at ${now}: ${ok ? "granted" : "denied"}, ` +
      `${value} left, after ${retryAfter} ms`;
    return (row) => {
      const expected = this.#take(row, config, now, count, floor);
      const isSame =
        expected.ok === ok && expected.value === value && expected.waits === retryAfter;
      return isSame ? expected.row : undefined;
    };
  }

  async #charge({ name: plan, config }: Plan, count: number): Promise<void> {
    const now = this.#now;
    const change: Change<Row> = (row) => {
      const held = this.#read(row, config, now);
      // The bucket opens later, when the charged tokens have refilled, too.
      if (held.isClosed) return { kind: "closed", ts: this.rules.wait(held, config, 0, count) };
      return held.withMore(count);
    };
    const { key } = this.bucket;
    await this.#changes(`charge ${count}`, config, change, () =>
      this.#limiter.charge(this.#name, { key, plan, count }),
    );
  }

  async #refund({ name: plan, config }: Plan, count: number): Promise<void> {
    const now = this.#now;
    const change: Change<Row> = (row) => {
      const held = this.#read(row, config, now);
      const { larger, used } = held;
      // The row keeps the use of the larger config, from the same instant on, less the refund.
      if (larger !== undefined) {
        return { kind: "used", tokens: Math.max(0, larger.tokens - count), ts: larger.ts };
      }
      return held.isClosed || used === 0 ? row : held.after(Math.max(0, used - count));
    };
    const { key } = this.bucket;
    await this.#changes(`refund ${count}`, config, change, () =>
      this.#limiter.refund(this.#name, { key, plan, count }),
    );
  }

  async #look({ name: plan, config }: Plan): Promise<void> {
    const { key } = this.bucket;
    await this.#changes(
      "getValue",
      config,
      (row) => row,
      () => this.#limiter.getValue(this.#name, { key, plan }),
    );
  }

  /** A call that answers what the bucket holds after it. */
  async #changes(
    what: string,
    config: RateLimitConfig,
    change: Change<Row>,
    call: () => Promise<{ value: number }>,
  ): Promise<void> {
    const now = this.#now;
    await this.bucket.step({
      what: `${this.rules.what}: ${what.split(" ")[0]}`,
      most: 2000,
      run: async () => {
        const { value } = await call();
        this.bucket.saw = `${what}: ${value} left of ${JSON.stringify(config)} at ${now}`;
        return (row) => {
          const after = change(row);
          return this.#read(after, config, now).value === value ? after : undefined;
        };
      },
      lost: [change],
    });
  }

  async #delete(what: "reset" | "forget"): Promise<void> {
    const { key } = this.bucket;
    await this.bucket.step({
      what: `${this.rules.what}: ${what}`,
      // `forget` makes one trip after the other for each name in the table.
      most: what === "reset" ? 2000 : 100_000,
      run: async () => {
        if (what === "reset") {
          await this.#limiter.reset(this.#name, { key });
          return () => null;
        }
        const deleted = await this.#limiter.forget(key);
        this.bucket.saw = `${deleted} rows deleted`;
        // A full row may have been deleted before.
        return (row) =>
          deleted === (row === null ? 0 : 1) || this.#isFull(row, this.#now) ? null : undefined;
      },
      lost: [() => null],
    });
  }

  /** Full rows are deleted while a call is under way. */
  async #prune(plan: Plan, count: number): Promise<void> {
    const { caller, rules } = this;
    // A late statement with an older time could tell a full row from a missing row.
    if (this.bucket.possible.uncertain > 0) return this.#limit(plan, count);
    caller.tally.note(`${rules.what}: prune`);
    const prune = async () => {
      try {
        await caller.timed("prune", 20_000, () => this.#limiter.prune());
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "prune");
      }
    };
    // The caller is quiet when both calls have ended.
    const pruned = prune();
    await this.#limit(plan, count, pruned);
  }

  /** Whether the row is full for all plans, also for the plan that has used it. */
  #isFull(row: Row, now: number): boolean {
    return this.#plans.every(({ config }) => {
      const { isClosed, capacity } = this.#read(row, config, now);
      if (row === null || isClosed) return row === null;
      return usedBefore(row, capacity) <= this.rules.refilled(row.ts, config, now);
    });
  }

  /** Reads the pages of the limit: the bucket is on one of them, or it is full. */
  async #list({ name: plan, config }: Plan): Promise<void> {
    const { key } = this.bucket;
    await this.bucket.step({
      what: `${this.rules.what}: list`,
      most: 100_000,
      run: async () => {
        const count = this.caller.random.between(1, 3);
        let found: number | undefined;
        for (let after: string | undefined; ;) {
          const page = await this.#limiter.list(this.#name, {
            plan,
            count,
            ...(after && { after }),
          });
          for (const item of page.items) if (item.key === key) found = item.value;
          if (page.next === undefined) break;
          after = page.next;
        }
        this.bucket.saw = `${found ?? "nothing"} listed at ${this.#now}`;
        return (row) => {
          const isThere = this.#read(row, config).value === found;
          const isMissing = found === undefined && (row === null || this.#isFull(row, this.#now));
          return isThere || isMissing ? row : undefined;
        };
      },
      lost: [],
    });
  }
}
