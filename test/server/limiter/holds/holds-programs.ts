/** Random programs with holds, run by two limiters on the same rows, and by the model. */
import { isDeepStrictEqual } from "node:util";
import { refillBetween } from "../../../../core/calculate.js";
import { usedAt } from "../../../../core/rows/reading.js";
import { type Bucket, capacityOf, toleranceOf } from "../../../../core/config.js";
import { refundRateLimit } from "../../../../core/refund.js";
import { sharesOf } from "../../../../core/shares.js";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  type RateLimitError,
  type RateLimitInputError,
  type RateLimitResult,
  type RateLimitStore,
} from "../../../../server/index.js";
import {
  configOf,
  hasPlans,
  LARGEST,
  LIMITS,
  type Name,
  PAIRS,
  PERIOD,
  type Plan,
  PLANS,
  type Refilling,
  STEP,
} from "./holds-limits.js";
import { copyOf, decide, type Ended, HoldsModel, type Terms, together } from "./holds-model.js";

const IDS = ["a", "b|", "c\\"];
const ONCE_FOR = 3 * PERIOD;
const STEPS = 14;

const open = (store: RateLimitStore, clock: () => number) =>
  createRateLimiter({
    store,
    clock,
    sleep,
    plans: PLANS,
    limits: LIMITS,
    onceFor: ONCE_FOR,
    logger: false,
  });
/** Of a reservation that is repeated, `acquire` waits for what is left. */
const sleep = async () => {};
type Limiter = ReturnType<typeof open>;
type Inside = Parameters<Parameters<Limiter["transaction"]>[0]>[0];

interface Kept {
  result: RateLimitResult & { ok: true };
  limiter: Limiter;
  name: Name;
  id: string;
  at: number;
  config: Bucket;
}

type Operations = Inside | Limiter;
type Items = Parameters<Limiter["limitAll"]>[0];

export class HoldsPrograms {
  /** How often each thing has happened, so that a test can tell that it has. */
  readonly counts: Record<string, number> = {};
  #clock = createManualClock(2 ** 40);
  #limiters: readonly Limiter[];
  #models = new Map<Name, HoldsModel>();
  #kept: Kept[] = [];
  #key = "";
  #trace: unknown[][] = [];
  #pair: readonly [Refilling, Refilling] = PAIRS[0];
  /** That of the key. */
  #plan: Plan = LARGEST;
  /** Tokens that `refund` added, of which no call is known. */
  #gifts = 0;

  constructor(
    store: RateLimitStore,
    peer: RateLimitStore,
    private readonly random: () => number,
    private readonly keys: string,
    private readonly hasTransactions: boolean = true,
  ) {
    this.#limiters = [open(store, this.#clock), open(peer, this.#clock)];
  }

  /** @throws where the limiter and the model differ, with the steps until then. */
  async run(program: number): Promise<void> {
    this.#key = `${this.keys}|${program}\\`;
    this.#pair = this.#one(PAIRS);
    const names: Name[] = [...this.#pair, "credits"];
    this.#plan = this.#one(PLANS);
    this.#models = new Map(names.map((name) => [name, modelOf(name, this.#plan)]));
    [this.#kept, this.#trace, this.#gifts] = [[], [], 0];
    const isChanging = this.#pick(4) === 0 && this.#pair.some(hasPlans);
    try {
      for (let step = 0; step < STEPS; step++) {
        this.#pass();
        const limiter = this.#one(this.#limiters);
        if (isChanging && this.#pick(8) === 0) this.#changePlan();
        else if (this.hasTransactions && this.#pick(10) === 0) await this.#transaction(limiter);
        else if (this.#pick(20) === 0) await this.#tidy(limiter);
        else await this.#step(limiter, limiter);
        await this.#compare(this.#one(this.#limiters), this.#one(names), false);
      }
      for (const name of names) await this.#compare(this.#one(this.#limiters), name, true);
      if (!isChanging) this.#models.forEach((model) => checkBound(model, this.#gifts));
    } catch (error) {
      const message = `program ${program} of ${this.#pair.join(" and ")}: ${String(error)}`;
      const steps = this.#trace.map((step) => JSON.stringify(step));
      throw new Error(`${message}\n${steps.join("\n")}`, { cause: error });
    }
  }

  #pass(): void {
    const days = this.#pair[0] === "month" && this.#pick(6) === 0;
    this.#clock.advance(days ? 12 * DAY : this.#pick(3) * this.#pick(8) * STEP);
  }

  async #step(ops: Operations, limiter: Limiter): Promise<void> {
    const name = this.#one([...this.#pair, ...this.#pair, "credits"] as const);
    const steps = [
      () => this.#limit(ops, limiter, name),
      () => this.#limit(ops, limiter, name),
      () => this.#limitAll(ops),
      () => this.#limitFirst(ops),
      () => this.#end(ops, [name]),
      () => this.#end(ops, [name]),
      () => this.#end(ops, this.#one([this.#pair, [this.#pair[0], "credits"]])),
      () => this.#endByResult(ops, limiter),
      () => this.#charge(ops, name),
      () => this.#refundOrCredit(ops, name),
      () => this.#check(ops, name),
    ];
    await this.#one(steps)();
  }

  async #limit(ops: Operations, limiter: Limiter, name: Name): Promise<void> {
    const model = this.#model(name);
    const now = this.#clock();
    const count = this.#count();
    const call = { ...this.#of(name), count, ...this.#held() };
    const reserve = "maxReserved" in LIMITS[name] && this.#pick(3) === 0;
    const expected = decide([model], now, call.once, (at) => takeOnce(model, at, call, reserve));
    const acquires = ops === limiter && !reserve && name !== "credits" && this.#pick(4) === 0;
    const got = acquires
      ? await limiter.acquire(name, { ...call, maxWait: 0 }).catch(denialOf)
      : await ops.limit(name, { ...call, reserve });
    const how = { name, ...call, reserve };
    // A reservation that waits for too long is told to wait for less.
    if (acquires && !got.ok) this.#same("acquire", how, got.value, expected.ok || expected.value);
    else this.#same(acquires ? "acquire" : "limit", how, got, expected);
    const { once: id, hold } = call;
    if (!got.ok || ops !== limiter || id === undefined || hold === undefined) return;
    this.#kept.push({ result: got, limiter, name, id, at: now, config: model.config });
  }

  async #limitAll(ops: Operations): Promise<void> {
    const [one, other] = this.#pair;
    const names = this.#pick(2) === 0 ? [one, other] : [one, one];
    const items = names.map((name) => ({ name, ...this.#of(name), count: this.#count() }));
    const options = this.#held();
    const now = this.#clock();
    const models = names.map((name) => this.#model(name));
    const expected = decide(models, now, options.once, () => {
      const { once: id } = options;
      const known = models.map((model) => id !== undefined && model.isCharged(id, now));
      const results = items.map(({ count }, i) => {
        if (known[i]) return REPEATED;
        const taken = models[i]!.take(now, count);
        if (taken.ok && id !== undefined) models[i]!.note(id, now, count, options.hold);
        return taken;
      });
      const taking = models.filter((_, i) => !known[i]);
      if (id !== undefined) together(taking, id, false);
      return { ok: results.every(({ ok }) => ok), results };
    });
    const { ok, results } = await ops.limitAll(items as Items, options);
    this.#same("limitAll", { items, ...options }, { ok, results }, expected);
  }

  async #limitFirst(ops: Operations): Promise<void> {
    const names = this.#one<readonly Name[]>([this.#pair, [this.#pair[0], "credits"]]);
    const items = names.map((name) => ({ name, key: this.#key }));
    const count = 1 + this.#pick(7);
    const split = this.#pick(2) === 0;
    const options = { plan: this.#plan, ...this.#held() };
    const now = this.#clock();
    const models = names.map((name) => this.#model(name));
    const expected = decide(models, now, options.once, () => {
      const { once: id } = options;
      const known = models.filter((model) => id !== undefined && model.isCharged(id, now));
      if (known.length > 0) return { ok: true, paid: [] };
      const purses = models.map(({ config, value }, i) => {
        return { value: value.call(models[i], now), tolerance: toleranceOf(config) };
      });
      const first = purses.findIndex(({ value, tolerance }) => value - count >= -tolerance);
      const whole = first < 0 ? undefined : purses.map((_, i) => (i === first ? count : 0));
      const shares = split ? sharesOf(purses, count) : whole;
      const paid = (shares ?? []).flatMap((share, i) => {
        if (share === 0) return [];
        models[i]!.take(now, share);
        if (id !== undefined) models[i]!.note(id, now, share, options.hold);
        return [{ name: names[i], count: share }];
      });
      if (id !== undefined) together(models, id, true);
      return shares === undefined ? { ok: false } : { ok: true, paid };
    });
    const got = await ops.limitFirst(items, { count, split, ...options });
    const paid = got.ok && {
      paid: got.paid.map(({ name, count: part }) => ({ name, count: part })),
    };
    this.#same(
      "limitFirst",
      { names, count, split, ...options },
      { ok: got.ok, ...paid },
      expected,
    );
  }

  /** By names, from whatever process. */
  async #end(ops: Operations, names: readonly Name[]): Promise<void> {
    const once = this.#one(IDS);
    const actual = this.#one([0, 1, 2.5, 4, 9, NaN, undefined, "release"]);
    const now = this.#clock();
    const models = names.map((name) => this.#model(name));
    // Who ends a hold need not know the plan of the key.
    const plan = this.#one<Plan | undefined>([this.#plan, undefined, LARGEST]);
    const expected = this.#by(plan ?? LARGEST, () => endAll(models, once, now, actual));
    const of = {
      key: this.#key,
      ...(plan !== undefined && names.some(hasPlans) && { plan }),
      once,
    };
    const given = names.length === 1 ? names[0]! : names;
    const ending =
      actual === "release" ? ops.release(given, of) : ops.settle(given, of, actual as number);
    const got = await ending.catch(refusalOf);
    const ended = "settled" in got ? got.settled : got.released;
    const { count, value, reason } = got as { count?: number; value?: number; reason?: string };
    const shown = ended ? { ok: ended, count, value } : { ok: ended, reason };
    this.#same("end", { names, ...of, actual }, shown, expected);
  }

  /** By what a call got. That of a repeat ends nothing, nor does one that is older than the hold of its id. */
  async #endByResult(ops: Operations, limiter: Limiter): Promise<void> {
    // A result knows the config of its call, and no later one.
    const kept = this.#kept.find(
      (each) => each.limiter === limiter && each.config === this.#model(each.name).config,
    );
    if (kept === undefined) return;
    const { result, name, id, at } = kept;
    const now = this.#clock();
    const model = this.#model(name);
    const isOwn = !result.repeated && model.ids.get(id)?.at === at;
    const actual = this.#one([0, 1, 3, 9]);
    const isRefund = this.#pick(2) === 0;
    if (isRefund) {
      const held = model.holds.get(id)?.taken.count ?? 0;
      if (isOwn) model.end(id, now, Math.max(0, held - actual));
      await ops.refund(name, { ...this.#of(name), count: actual, result });
    } else {
      if (isOwn) model.end(id, now, actual);
      await ops.settle(result, actual);
    }
    this.#same("end by result", { name, id, actual, isRefund }, {}, {});
    if (this.#pick(2) === 0) this.#kept.splice(this.#kept.indexOf(kept), 1);
  }

  async #charge(ops: Operations, name: Name): Promise<void> {
    const count = this.#pick(6);
    const once = this.#pick(2) === 0 ? this.#one(IDS) : undefined;
    const now = this.#clock();
    const model = this.#model(name);
    const isRepeated = once !== undefined && model.isCharged(once, now);
    if (!isRepeated) model.charge(now, count);
    if (!isRepeated && once !== undefined && count > 0) model.note(once, now, count);
    const call = { ...this.#of(name), count, ...(once !== undefined && { once }) };
    const { repeated = false } = await ops.charge(name, call);
    this.#same("charge", { name, ...call }, { repeated }, { repeated: isRepeated });
  }

  async #refundOrCredit(ops: Operations, name: Name): Promise<void> {
    const count = this.#pick(8);
    const now = this.#clock();
    const model = this.#model(name);
    const before = model.value(now);
    if (name === "credits") {
      model.row = { used: before + count, ts: Math.max(now, model.row?.ts ?? now) };
      await ops.credit(name, { ...this.#of(name), count });
    } else {
      model.row = refundRateLimit([model.row], model.config, now, count).next[0] ?? model.row;
      await ops.refund(name, { ...this.#of(name), count });
    }
    this.#gifts += model.value(now) - before;
    this.#same("refund or credit", { name, count }, {}, {});
  }

  async #check(ops: Operations, name: Name): Promise<void> {
    const count = this.#count();
    const once = this.#pick(3) === 0 ? this.#one(IDS) : undefined;
    const model = this.#model(name);
    const now = this.#clock();
    const call = { ...this.#of(name), count, ...(once !== undefined && { once }) };
    const isDenied = !takeOnce(copyOf(model), now, call, false).ok;
    if (isDenied) model.reclaim(now);
    const copy = copyOf(model);
    const expected = decide([copy], now, call.once, (at) => takeOnce(copy, at, call, false));
    this.#same("check", { name, ...call }, await ops.check(name, call), expected);
  }

  /** Its function may run more than once. */
  async #transaction(limiter: Limiter): Promise<void> {
    const before = [...this.#models].map(([name, model]) => [name, copyOf(model)] as const);
    const traced = this.#trace.length;
    const seen = this.#gifts;
    const goBack = () => {
      this.#models = new Map(before.map(([name, model]) => [name, copyOf(model)]));
      this.#gifts = seen;
    };
    const undone = new Error("undone");
    const isUndone = this.#pick(2) === 0;
    const length = 1 + this.#pick(3);
    const run = limiter.transaction(async (inside) => {
      goBack();
      this.#trace.length = traced;
      this.#trace.push([isUndone ? "transaction that is undone" : "transaction"]);
      for (let i = 0; i < length; i++) await this.#step(inside, limiter);
      if (isUndone) throw undone;
    });
    await run.catch((error: unknown) => {
      if (error !== undone) throw error;
      goBack();
    });
    this.#trace.push(["end of the transaction"]);
    this.#count1(isUndone ? "undone" : "committed");
  }

  async #tidy(limiter: Limiter): Promise<void> {
    if (this.#pick(2) === 0) {
      for (const name of this.#models.keys()) this.#models.set(name, modelOf(name, this.#plan));
      [this.#kept, this.#gifts] = [[], 0];
      await limiter.forget(this.#key);
      return this.#same("forget", {}, {}, {});
    }
    // It knows no plan of a key.
    this.#by(LARGEST, () => {
      for (const model of this.#models.values()) model.reclaim(this.#clock());
    });
    await limiter.prune();
    this.#same("prune", {}, {}, {});
  }

  /** No limiter is told: later calls have another plan. */
  #changePlan(): void {
    this.#plan = this.#one(PLANS);
    this.#readBy(this.#plan);
    this.#same("change of plan", { to: this.#plan }, {}, {});
  }

  /** What a call by a plan does, whatever the plan of the key is. */
  #by<TResult>(plan: Plan, call: () => TResult): TResult {
    this.#readBy(plan);
    try {
      return call();
    } finally {
      this.#readBy(this.#plan);
    }
  }

  #readBy(plan: Plan): void {
    for (const [name, model] of this.#models) model.config = configOf(name, plan);
  }

  /** What the limiter shows of a limit is what the model has. */
  async #compare(limiter: Limiter, name: Name, withHolds: boolean): Promise<void> {
    const now = this.#clock();
    const model = this.#model(name);
    model.reclaim(now);
    const holds = [...model.holds].map(([once, { taken, then, until }]) => {
      return { once, count: taken.count, then, until };
    });
    const sum = holds.reduce((total, { count }) => total + count, 0);
    const { value, held } = await limiter.getValue(name, this.#of(name));
    this.#same("value", name, { value, held }, { value: model.value(now), held: sum });
    if (!withHolds) return;
    const byId = (a: { once: string }, b: { once: string }) => (a.once < b.once ? -1 : 1);
    const got = await limiter.holds(name, { key: this.#key });
    this.#same("holds", name, got.toSorted(byId), holds.toSorted(byId));
  }

  #same(what: string, how: unknown, got: unknown, expected: unknown): void {
    this.#trace.push([this.#clock(), what, how, got]);
    const shown = withoutRepeats(got);
    const { ok, reason } = Object(expected) as { ok?: boolean; reason?: string };
    this.#count1(`${what} ${reason ?? (ok === undefined ? "" : String(ok))}`.trim());
    if (isDeepStrictEqual(shown, expected)) return;
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(shown)}`);
  }

  #count1(event: string): void {
    this.counts[event] = (this.counts[event] ?? 0) + 1;
  }

  /** The key of a call, and its plan where the limit has plans. */
  #of(name: Name) {
    return { key: this.#key, ...(hasPlans(name) && { plan: this.#plan }) };
  }

  /** An id, and how the tokens are held. */
  #held(): { once?: string; hold?: Terms } {
    const kind = this.#pick(5);
    if (kind === 0) return {};
    const once = this.#one(IDS);
    if (kind === 1) return { once };
    const then = this.#one(["keep", "release"] as const);
    return { once, hold: { for: (1 + this.#pick(this.#one([4, 48]))) * STEP, then } };
  }

  #model = (name: Name) => this.#models.get(name)!;
  #pick = (count: number) => Math.floor(this.random() * count);
  #count = () => (1 + this.#pick(8)) / 2;
  #one = <T>(list: readonly T[]) => list[this.#pick(list.length)]!;
}

const REPEATED = { ok: true as const, repeated: true as const };

interface Call {
  count: number;
  once?: string;
  hold?: Terms;
}

function takeOnce(model: HoldsModel, now: number, call: Call, reserve: boolean) {
  const { count, once: id, hold } = call;
  if (id !== undefined && model.isCharged(id, now)) return REPEATED;
  const result = model.take(now, count, reserve);
  if (result.ok && id !== undefined) model.note(id, now, count, hold);
  return result;
}

/** Of a hold of which some of the limits were not named. */
function refusalOf(error: unknown) {
  if ((error as RateLimitInputError).reason !== "name") throw error;
  return { settled: false as const, reason: "not all named" };
}

/**
 * Of shares, what was not used comes back from the last one, and what was used beyond them is charged to
 * the first. All others are settled by the same count.
 */
function endAll(
  models: readonly HoldsModel[],
  id: string,
  now: number,
  actual: number | string | undefined,
): Ended {
  const all = models.map(({ holds }) => holds.get(id));
  const named = models.filter((model) => model.isKnown(id, now)).length;
  const made = Math.max(0, ...all.map((hold) => hold?.made ?? 0));
  if (named < made) return { ok: false, reason: "not all named" };
  const held = all.map((hold) => {
    return hold === undefined || now >= hold.until ? 0 : hold.taken.count;
  });
  const paid = held.map((count, i) => (all[i]?.isShare ? count : 0));
  const total = paid.reduce((sum, count) => sum + count, 0);
  const usedOf = (most: number) =>
    actual === "release" ? 0 : Number.isFinite(actual) ? (actual as number) : most;
  let rest = usedOf(total);
  const shares = paid.map((count) => {
    const share = Math.min(count, rest);
    rest -= share;
    return share;
  });
  const first = paid.findIndex((count) => count > 0);
  if (first >= 0) shares[first]! += rest;
  // From the last one, as far as the order matters.
  const ended = models.map((model, i) =>
    model.end(id, now, paid[i]! > 0 ? shares[i]! : usedOf(held[i]!)),
  );
  const done = ended.findIndex(({ ok }) => ok);
  if (done >= 0) {
    const { value } = ended[done] as Ended & { ok: true };
    return { ok: true, count: paid[done]! > 0 ? total : held[done]!, value };
  }
  const reasons = ended.map((each) => (each as { reason: string }).reason);
  return { ok: false, reason: reasons.find((reason) => reason !== "unknown") ?? "unknown" };
}

/**
 * In any span of time, no more was used than the bucket holds, and what refills meanwhile.
 *
 * @param gifts tokens that came from elsewhere.
 */
function checkBound({ config, takings }: HoldsModel, gifts: number): void {
  const start = (at: number) => usedAt(null, config, at).ts;
  const most = config.rate === 0 ? 0 : capacityOf(config) + (config.maxReserved ?? 0);
  for (const [i, { at }] of takings.entries()) {
    let used = 0;
    for (const taking of takings.slice(i)) {
      used += taking.used;
      const refilled = refillBetween(config, start(at), start(taking.at));
      if (used <= most + refilled + gifts) continue;
      throw new Error(`${used} were used of ${most} and ${refilled}, from ${at} to ${taking.at}`);
    }
  }
}

function modelOf(name: Name, plan: Plan): HoldsModel {
  return new HoldsModel(configOf(name, plan), ONCE_FOR);
}

/** Of a repeated call, what it says of the first one is left to the tests of `once`. */
function withoutRepeats(got: unknown): unknown {
  if (Array.isArray(got)) return got.map(withoutRepeats);
  if (typeof got !== "object" || got === null) return got;
  if ("repeated" in got && got.repeated === true && "ok" in got) return REPEATED;
  if ("results" in got) return { ...got, results: withoutRepeats(got.results) };
  return got;
}

function denialOf(error: unknown): RateLimitResult {
  const { retryAfter, value } = (error as RateLimitError).data.rateLimit;
  return { ok: false, retryAfter, value };
}
