/**
 * A caller of limits with holds. All callers of all processes use the same ids at the same time. The
 * callers take tokens under an id, as retries do, and settle or release it, also if another caller took
 * the tokens. The ids and the buckets follow from the time, so that no process has to tell another
 * process about them.
 */
import type { RateLimiter } from "../../server/index.js";
import type { HoldTerms } from "../../server/limiter/types/hold-terms.js";
import { createRandom, type Random } from "../simulation/random.js";
import type { HoldAction, HoldAnswer, HoldCall } from "./hold-model.js";
import { HOLD_NAMES, type holdLimits } from "./hold-limits.js";

type Limits = ReturnType<typeof holdLimits>["configs"];
type Limiter = RateLimiter<Limits>;
/** The object that makes the calls: the limiter, or a transaction. */
export type HoldScope = Pick<Limiter, "limit" | "release" | "settle">;

export interface HoldCallerOptions {
  limiter: Limiter;
  random: Random;
  capacity: number;
  /** How many ids each bucket has. */
  ids: number;
  /** The name of this caller. Each caller has another one. */
  caller: string;
  /** For how long a bucket is the newest, ms. */
  every: number;
  /** How long holds last, ms. */
  lasts: readonly number[];
  /**
   * The true time, ms. `before`: not after what has just happened. `after`: not before what has just
   * happened.
   */
  clock: { before(): number; after(): number };
  /** Runs each call, in a transaction or without one. `undefined`: the call was rolled back. */
  around(
    what: string,
    call: (scope: HoldScope) => Promise<HoldAnswer>,
  ): Promise<HoldAnswer | undefined>;
  /**
   * Records a call. A call with an infinite `end` is recorded again when it has ended, or `undo` is
   * called.
   */
  write(call: HoldCall): void;
  /** A recorded call has had no effect. */
  undo(call: HoldCall): void;
}

/** How many of the newest buckets are in use. */
const LATEST = 3;

export class HoldCaller {
  readonly #filled = new Set<string>();
  #takes = 0;
  #last: { epoch: number; id: string } | undefined;

  constructor(readonly options: HoldCallerOptions) {}

  /** Makes one call. Rejects if the store fails. */
  async call(): Promise<void> {
    const { random, ids, clock, every } = this.options;
    const newest = Math.floor(clock.before() / every);
    const epoch = Math.max(0, newest - random.below(LATEST));
    const any = { epoch, id: `id ${random.below(ids)}` };
    // The caller often goes on with the id that it has used last.
    const last = this.#last;
    const isLast = last !== undefined && last.epoch > newest - LATEST && random.chance(0.4);
    const of = isLast ? last : any;
    this.#last = of;
    await this.#callOn(HOLD_NAMES[of.epoch % HOLD_NAMES.length]!, `key ${of.epoch}`, of.id);
  }

  async #callOn(name: (typeof HOLD_NAMES)[number], key: string, id: string): Promise<void> {
    const { random, caller } = this.options;
    if (name === "credits") await this.#fill(key);
    const dice = random.next();
    if (dice < 0.12) {
      const count = random.between(1, 3);
      const own = `${caller} ${this.#takes++}`;
      return this.#perform({ name, key, id: own, action: { kind: "take", count } });
    }
    await this.#perform({ name, key, id, action: this.#actionOn(name, key, id, dice) });
  }

  /** The terms are the same in all processes, so that a repeated call wants the same. */
  #termsOf(key: string, id: string): { count: number; terms: HoldTerms; repeat?: number } {
    const random = createRandom([...`${key} ${id}`].reduce((a, c) => 31 * a + c.charCodeAt(0), 7));
    const terms: HoldTerms = {
      for: random.pick(this.options.lasts),
      then: random.chance(0.5) ? "keep" : "release",
    };
    return { count: random.between(1, 6), terms, repeat: random.pick([0, 0, 1, 9]) };
  }

  #actionOn(name: string, key: string, id: string, dice: number): HoldAction {
    const { random } = this.options;
    const { count, terms, repeat } = this.#termsOf(key, id);
    if (dice < 0.55) return { kind: "hold", count, terms, repeat };
    if (dice < 0.75) return { kind: "release" };
    // A window in debt gives less back, so what it must hold would not be known. Settle windows only
    // downward.
    const most = name === "window" ? count : count + 2;
    return { kind: "settle", actual: random.between(0, most) };
  }

  async #perform(of: Pick<HoldCall, "name" | "key" | "id" | "action">): Promise<void> {
    const { around, clock, write, undo } = this.options;
    const call: HoldCall = { ...of, start: clock.before(), end: Infinity };
    write(call);
    const answer = await around(of.action.kind, (scope) => perform(scope, of));
    if (answer === undefined) return undo(call);
    call.answer = answer;
    call.end = clock.after();
    write(call);
  }

  /** Buys credits: once, however many processes try. */
  async #fill(key: string): Promise<void> {
    if (this.#filled.has(key)) return;
    const { limiter, capacity: count } = this.options;
    await limiter.credit("credits", { key, count, once: "fill" });
    this.#filled.add(key);
  }
}

async function perform(
  scope: HoldScope,
  { name: of, key, id, action }: Pick<HoldCall, "name" | "key" | "id" | "action">,
): Promise<HoldAnswer> {
  const name = of as keyof Limits;
  if (action.kind === "settle" || action.kind === "release") {
    const options = { key, once: id };
    const ended =
      action.kind === "settle"
        ? await scope.settle(name, options, action.actual)
        : await scope.release(name, options);
    if ("reason" in ended) return { ok: false, reason: ended.reason };
    return { ok: true, count: ended.count };
  }
  const { count } = action;
  const held = action.kind === "hold" && { once: id, hold: action.terms };
  const result = await scope.limit(name, { key, count, ...held });
  if (!("repeated" in result && result.repeated)) return { ok: result.ok };
  if (action.kind !== "hold") return { ok: result.ok, repeated: true };
  // The retry's work has failed, or is done sooner than the work of the first call, which still goes on.
  const { settled } = await scope.settle(result, action.repeat);
  return { ok: result.ok, repeated: true, ...(settled && { count }) };
}

/**
 * Takes more than a bucket has, after all holds have lapsed, so that all tokens that come back are back.
 *
 * @returns what the bucket holds then.
 */
export async function drain(
  limiter: Limiter,
  { name: of, key, count }: { name: string; key: string; count: number },
): Promise<number> {
  const name = of as keyof Limits;
  const { ok, value } = await limiter.limit(name, { key, count });
  return ok ? value + count : value;
}
