/**
 * A caller whose bucket nobody else uses, on a clock that only this caller moves. So it is known
 * exactly what has refilled. Full rows are deleted while it calls: that changes no answer.
 */
import type {
  RateLimitConfig,
  RateLimiter,
  RateLimitResult,
  RateLimitState,
} from "../../../server/index.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";
import { OwnBucket } from "./own-bucket.js";
import type { Change, Effect } from "./possible.js";
import type { Random } from "../random.js";

/** A row; `null` where there is none. */
export type Row = RateLimitState | null;

/** What a kind of limit does, calculated anew. All numbers are exact. */
export interface Rules {
  what: string;
  /** Of the same bucket, from call to call. The first one is that of the limit. */
  configs: readonly RateLimitConfig[];
  /** When the caller begins, epoch ms. */
  start: number;
  /** How far the clock goes on, ms. */
  advance(random: Random, now: number): number;
  held(row: Row, config: RateLimitConfig, now: number): RateLimitState;
  /** ms until taking `count` from what the row holds leaves `floor`. */
  wait(held: RateLimitState, config: RateLimitConfig, now: number, least: number): number;
  /** What a denial leaves. @default the row as it was */
  denied?(row: Row, config: RateLimitConfig, now: number): Row;
  /** Whether tokens that come back are lost. @default never */
  isClosed?(row: Row, config: RateLimitConfig, now: number): boolean;
}

export function createMoving(rules: Rules): Workload {
  return (caller) => new Moving(caller, rules).run();
}

class Moving {
  readonly bucket: OwnBucket<Row>;
  readonly #name: string;
  readonly #limiter: RateLimiter;
  #now: number;

  constructor(
    readonly caller: Caller,
    readonly rules: Rules,
  ) {
    const { member, random } = caller;
    this.bucket = new OwnBucket<Row>(caller, null);
    // Its own, because a prune by one clock would be wrong for callers with another one.
    this.#name = `moving ${member.id} ${random.below(2 ** 31)}`;
    this.#now = rules.start;
    this.#limiter = member.limiter({ [this.#name]: rules.configs[0]! }, () => this.#now);
  }

  async run(): Promise<void> {
    const { caller, bucket, rules } = this;
    const { random, member } = caller;
    while (caller.isOn()) {
      bucket.renew();
      if (random.chance(0.6)) this.#now += rules.advance(random, this.#now);
      const config = random.pick(rules.configs);
      const count = random.between(1, 4);
      const dice = random.next();
      if (dice < 0.4) await this.#limit(config, count);
      else if (dice < 0.5) await this.#charge(config, count);
      else if (dice < 0.6) await this.#refund(config, count);
      else if (dice < 0.72) await this.#look(config);
      else if (dice < 0.82) await this.#prune(config, count);
      else if (dice < 0.88) await this.#list();
      else if (dice < 0.94) await this.#delete("reset");
      else await this.#delete("forget");
      if (random.chance(0.3)) await member.sleep(random.below(50));
    }
  }

  /** @param until ends before the call is said to have. */
  async #limit(config: RateLimitConfig, count: number, until?: Promise<void>): Promise<void> {
    const { key } = this.bucket;
    const { maxReserved } = config;
    const reserve = maxReserved !== undefined && this.caller.random.chance(0.5);
    const floor = reserve ? -maxReserved : 0;
    const now = this.#now;
    await this.bucket.step({
      what: `${this.rules.what}: ${reserve ? "reserve" : "limit"}`,
      most: until === undefined ? 2000 : 20_000,
      run: async () => {
        const call = this.#limiter.limit(this.#name, { key, config, count, reserve });
        const [result] = await Promise.all([call, until]).finally(() => until);
        return this.#answered(config, count, floor, result);
      },
      lost: [(row) => this.#take(row, config, now, count, floor).row],
    });
  }

  #take(row: Row, config: RateLimitConfig, now: number, count: number, floor: number) {
    const { rules } = this;
    const held = rules.held(row, config, now);
    const value = held.value - count;
    if (value >= floor) {
      const waits = value < 0 ? rules.wait({ ...held, value }, config, now, 0) : undefined;
      return { ok: true, value, waits, row: { value, ts: held.ts } };
    }
    const after = rules.denied?.(row, config, now) ?? row;
    const left = rules.held(after, config, now);
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

  async #charge(config: RateLimitConfig, count: number): Promise<void> {
    const change: Change<Row> = this.#changing(config, (held) => held.value - count);
    const { key } = this.bucket;
    await this.#changes("charge", config, change, () =>
      this.#limiter.charge(this.#name, { key, config, count }),
    );
  }

  async #refund(config: RateLimitConfig, count: number): Promise<void> {
    const now = this.#now;
    const most = this.rules.held(null, config, now).value;
    const add = this.#changing(config, (held) => Math.min(most, held.value + count));
    const change: Change<Row> = (row) => {
      const isLost = this.rules.isClosed?.(row, config, now) ?? false;
      return isLost || this.rules.held(row, config, now).value >= most ? row : add(row);
    };
    const { key } = this.bucket;
    await this.#changes("refund", config, change, () =>
      this.#limiter.refund(this.#name, { key, config, count }),
    );
  }

  async #look(config: RateLimitConfig): Promise<void> {
    const { key } = this.bucket;
    await this.#changes(
      "getValue",
      config,
      (row) => row,
      () => this.#limiter.getValue(this.#name, { key, config }),
    );
  }

  #changing(config: RateLimitConfig, next: (held: RateLimitState) => number): Change<Row> {
    const now = this.#now;
    return (row) => {
      const held = this.rules.held(row, config, now);
      return { value: next(held), ts: held.ts };
    };
  }

  /** A call whose answer is what the bucket holds after it. */
  async #changes(
    what: string,
    config: RateLimitConfig,
    change: Change<Row>,
    call: () => Promise<{ value: number }>,
  ): Promise<void> {
    const now = this.#now;
    await this.bucket.step({
      what: `${this.rules.what}: ${what}`,
      most: 2000,
      run: async () => {
        const { value } = await call();
        this.bucket.saw = `${value} left of ${JSON.stringify(config)} at ${now}`;
        return (row) => {
          const after = change(row);
          return this.rules.held(after, config, now).value === value ? after : undefined;
        };
      },
      lost: [change],
    });
  }

  async #delete(what: "reset" | "forget"): Promise<void> {
    const { key } = this.bucket;
    await this.bucket.step({
      what: `${this.rules.what}: ${what}`,
      // One trip after the other for each name in the table.
      most: what === "reset" ? 2000 : 100_000,
      run: async () => {
        if (what === "reset") {
          await this.#limiter.reset(this.#name, { key });
          return () => null;
        }
        const deleted = await this.#limiter.forget(key);
        this.bucket.saw = `${deleted} rows deleted`;
        // A full row may have been deleted before, or not.
        return (row) =>
          deleted === (row === null ? 0 : 1) || this.#isFull(row, this.#now) ? null : undefined;
      },
      lost: [() => null],
    });
  }

  /** Full rows are deleted while a call is under way. */
  async #prune(config: RateLimitConfig, count: number): Promise<void> {
    const { caller, rules } = this;
    // A late statement with an older time could tell a full row from none.
    if (this.bucket.possible.uncertain > 0) return this.#limit(config, count);
    caller.tally.note(`${rules.what}: prune`);
    const prune = async () => {
      try {
        const alsoConfigs = { [this.#name]: rules.configs };
        await caller.timed("prune", 20_000, () => this.#limiter.prune({ alsoConfigs }));
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        caller.failed(error, "prune");
      }
    };
    // The caller is quiet when both have ended.
    const pruned = prune();
    await this.#limit(config, count, pruned);
  }

  #isFull(row: Row, now: number): boolean {
    const { held, configs } = this.rules;
    return configs.every((config) => held(row, config, now).value >= held(null, config, now).value);
  }

  /** The pages of the limit: the bucket is on one of them, or it is full. */
  async #list(): Promise<void> {
    const { key } = this.bucket;
    const [config] = this.rules.configs;
    await this.bucket.step({
      what: `${this.rules.what}: list`,
      most: 100_000,
      run: async () => {
        const count = this.caller.random.between(1, 3);
        let found: number | undefined;
        for (let after: string | undefined; ;) {
          const page = await this.#limiter.list(this.#name, { count, ...(after && { after }) });
          for (const item of page.items) if (item.key === key) found = item.value;
          if (page.next === undefined) break;
          after = page.next;
        }
        this.bucket.saw = `${found ?? "nothing"} listed at ${this.#now}`;
        return (row) => {
          const isThere = this.rules.held(row, config!, this.#now).value === found;
          const isMissing = found === undefined && (row === null || this.#isFull(row, this.#now));
          return isThere || isMissing ? row : undefined;
        };
      },
      lost: [],
    });
  }
}
