/** A caller of a limit with leases. Records the events of its bucket. */
import type { RateLimitConfig, RateLimiter, RateLimitResult } from "../../server/index.js";
import type { Random } from "../simulation/random.js";
import type { BucketEvent } from "./lease-bounds.js";
import { phaseAt } from "./lease-phases.js";

/** The config that the limiter knows, and another config for some calls. */
export type LeasedLimit = readonly [RateLimitConfig, RateLimitConfig];

/** How callers use a bucket. Its key is the same word. */
export type Use =
  /** `limit` and `check`. */
  | "plain"
  /** `limit` for one token, by callers that together want 1.5 times what refills. */
  | "steady"
  /** Also `refund`, `settle` and `limitAll`. */
  | "corrected"
  /** Also `charge` and `reserve`. */
  | "owed"
  /** Also `reset`, now and then. */
  | "reset"
  /** Calls with one of two configs. */
  | "tiers";

export const USES: readonly Use[] = ["plain", "steady", "corrected", "owed", "reset", "tiers"];

export interface RecordedEvent extends BucketEvent {
  name: string;
  key: Use;
}

export interface LeaseCallerOptions {
  limiter: RateLimiter;
  name: string;
  limit: LeasedLimit;
  use: Use;
  random: Random;
  /** How many callers the bucket has, in all processes. */
  callers: number;
  /**
   * The true time, ms. `before`: not after what has just happened. `after`: not before what has just
   * happened.
   */
  clock: { before(): number; after(): number };
  /** Where the phases begin, ms. @default 0 */
  shift?: number;
  sleep(ms: number): Promise<void>;
  isOn(): boolean;
  /** Runs each call. */
  around<TResult>(what: string, call: () => Promise<TResult>): Promise<TResult>;
  /** A call failed because of the store. */
  failed(error: unknown): void;
  /** Records an event. An event with an infinite `end` is recorded again when it has ended. */
  write(event: RecordedEvent): void;
}

export class LeaseCaller {
  /** Granted calls that may be corrected. */
  readonly #granted: { result: RateLimitResult; count: number }[] = [];
  readonly #config: RateLimitConfig;

  constructor(readonly options: LeaseCallerOptions) {
    this.#config = options.limit[0];
  }

  async run(): Promise<void> {
    const { use, random, callers, isOn, clock, sleep, shift = 0 } = this.options;
    const { rate, period, lease } = this.#config;
    const leaseMs = lease!.ms;
    /** ms until the next call, if all callers together want this part of the refill. */
    const pause = (part: number) =>
      -Math.log(1 - random.next()) * ((callers * Number(period)) / (part * rate));
    while (isOn()) {
      const { phase, until } = phaseAt(this.#config, clock.before() + shift);
      if (use === "steady") {
        await sleep(pause(1.5));
        await this.#call();
      } else if (phase === "slow") {
        await this.#call();
        // Two tokens on average: nearly as many as refill.
        await sleep(Math.min(leaseMs, pause(0.45)));
      } else if (phase === "burst") {
        const answers = await Promise.all(Array.from({ length: 8 }, () => this.#call()));
        if (!answers.includes(true)) await sleep(random.below(leaseMs / 2));
      } else {
        await sleep(Math.max(1, Math.min(until - shift - clock.before(), 500)));
      }
    }
  }

  /** @returns whether tokens were granted. */
  async #call(): Promise<boolean> {
    const { use, random, failed, sleep } = this.options;
    try {
      const dice = random.next();
      if (use === "steady") return await this.#limit(1, false);
      const count = random.between(1, 3);
      if (use === "corrected" && dice < 0.1) return await this.#correct();
      if (use === "corrected" && dice < 0.15) return await this.#limitAll();
      if (use === "owed" && dice < 0.02) return await this.#charge();
      if (use === "reset" && dice < 0.003) return await this.#reset();
      if (dice < 0.2) return await this.#look();
      return await this.#limit(count, use === "owed" && dice < 0.25);
    } catch (error) {
      if ((error as { kind?: unknown }).kind !== "StoreFailure") throw error;
      failed(error);
      await sleep(100);
      return false;
    }
  }

  async #limit(count: number, reserve: boolean): Promise<boolean> {
    const { limiter, name, use, random, limit, clock, around } = this.options;
    const config = use === "tiers" ? random.pick(limit) : this.#config;
    const call = { key: use, count, reserve };
    const start = clock.before();
    const result = await around(reserve ? "reserve" : "limit", () =>
      config === this.#config
        ? limiter.limit(name, call)
        : limiter.limit(name, { ...call, config }),
    );
    const isReserved = result.ok && result.retryAfter !== undefined;
    this.#write(isReserved ? "reserved" : result.ok ? "grant" : "denial", count, start);
    if (result.ok && use === "corrected") this.#granted.push({ result, count });
    if (this.#granted.length > 50) this.#granted.shift();
    return result.ok;
  }

  /** `refund`, or `settle` to less or more. */
  async #correct(): Promise<boolean> {
    const { limiter, name, use, random, clock, around } = this.options;
    const index = random.below(this.#granted.length);
    const [granted] = this.#granted.splice(index, 1);
    if (granted === undefined) return this.#limit(1, false);
    const { result, count } = granted;
    const actual = random.below(count + 3);
    if (random.chance(0.5)) {
      const refund = () => limiter.refund(name, { key: use, count, result });
      await this.#giveBack("refund", count, refund);
    } else if (actual < count) {
      await this.#giveBack("refund", count - actual, () => limiter.settle(result, actual));
    } else {
      const start = clock.before();
      await around("settle", () => limiter.settle(result, actual));
      if (actual > count) this.#write("charge", actual - count, start);
    }
    return false;
  }

  async #limitAll(): Promise<boolean> {
    const { limiter, name, use, clock, around } = this.options;
    const start = clock.before();
    const items = [
      { name, key: use, count: 2 },
      { name, key: "plain", count: 1 },
    ];
    const { ok, results } = await around("limitAll", () => limiter.limitAll(items));
    if (ok) {
      this.#write("grant", 2, start);
      this.#write("grant", 1, start, "plain");
      this.#granted.push({ result: results[0]!, count: 2 });
    }
    return ok;
  }

  async #charge(): Promise<boolean> {
    const { limiter, name, use, random, clock, around } = this.options;
    const count = random.between(1, 40);
    const start = clock.before();
    await around("charge", () => limiter.charge(name, { key: use, count }));
    this.#write("charge", count, start);
    return false;
  }

  async #reset(): Promise<boolean> {
    const { limiter, name, use } = this.options;
    const { rate, capacity = rate } = this.#config;
    await this.#giveBack("reset", capacity, () => limiter.reset(name, { key: use }));
    return false;
  }

  async #look(): Promise<boolean> {
    const { limiter, name, use, random, around } = this.options;
    if (random.chance(0.5)) await around("check", () => limiter.check(name, { key: use }));
    else await around("getValue", () => limiter.getValue(name, { key: use }));
    return false;
  }

  /** Records the event before it begins, because it may take effect without an answer. */
  async #giveBack(
    kind: "refund" | "reset",
    count: number,
    run: () => Promise<unknown>,
  ): Promise<void> {
    const { name, use, write, clock, around } = this.options;
    const event = { name, key: use, kind, count, start: clock.before(), end: Infinity };
    write(event);
    await around(kind, run);
    event.end = clock.after();
    write(event);
  }

  #write(kind: BucketEvent["kind"], count: number, start: number, key = this.options.use): void {
    const { name, write, clock } = this.options;
    write({ name, key, kind, count, start, end: clock.after() });
  }
}
