/**
 * A server with limits and an observer that follows one of them, on clocks that move only where a
 * schedule says so.
 */
import { createRateLimitObserver, type WatchHandlers } from "../../client/index.js";
import { createManualClock } from "../../core/testing.js";
import type { LimitConfigs, RateLimiter } from "../../server/index.js";
import { createLimitedTRPC } from "./limited-trpc.js";
import type { Step } from "./schedule.js";

/** How long a request takes to the server, and its answer back, ms. */
export type Trip = readonly [there: number, back: number];

/** The values of `random` that pick two shards. */
export type Pair = readonly [number, number];

/** Each two of a limit's shards. */
export function pairsOf(shards: number): Pair[] {
  return Array.from({ length: shards }, (_, first) =>
    // The second number picks among the others, beginning with the one after the first.
    Array.from({ length: shards - 1 - first }, (_each, after): Pair => [
      (first + 0.5) / shards,
      (after + 0.5) / (shards - 1),
    ]),
  ).flat();
}

/** A server, and the one clock that everything runs on. */
export function createWorld<const TLimits extends LimitConfigs>(limits: TLimits) {
  const steady = createManualClock();
  let lead = 0;
  let thrown: number[] = [];
  const clock = () => steady() + lead;
  const { limiter, t, rl } = createLimitedTRPC(limits, {
    clock,
    random() {
      if (thrown.length === 0) throw new Error("the test did not say which shards to pick");
      return thrown.shift()!;
    },
  });
  const untyped = limiter as unknown as RateLimiter;
  const caller = t.router({ rateLimit: rl.router }).createCaller({});

  /** Runs a call that sees these two shards, where there are several. */
  async function onPair<TResult>(
    pair: Pair,
    call: (limiter: RateLimiter) => Promise<TResult>,
  ): Promise<TResult> {
    thrown = [...pair];
    const result = await call(untyped);
    thrown = [];
    return result;
  }

  return {
    limiter: untyped,
    steady,
    clock,
    /** Sets the server's clock forward by `ms`. */
    set: (ms: number) => void (lead += ms),
    /** The answer of the server when its clock shows `now`. Only for calls that write nothing. */
    async at<TResult>(now: number, call: () => Promise<TResult>): Promise<TResult> {
      const before = lead;
      lead = now - steady();
      const result = await call();
      lead = before;
      return result;
    },
    onPair,
    status: (name: string) => caller.rateLimit.status({ name: name as keyof TLimits & string }),
  };
}

export type World = ReturnType<typeof createWorld>;

/** An observer of one limit, which is full at first and known to be. */
export async function follow(world: World, name: string, skew: number, [there, back]: Trip) {
  const { limiter, steady, onPair } = world;
  const item = { name };
  let ahead = skew;
  let isDeaf = false;
  let waiting = 0;
  let stream: WatchHandlers | undefined;
  const local = () => steady() + ahead;

  async function answer() {
    steady.advance(there);
    const snapshot = await world.status(name);
    steady.advance(back);
    return snapshot;
  }

  await limiter.reset(name);
  const observer = createRateLimitObserver({
    clock: local,
    monotonic: steady,
    transport: {
      async status() {
        if (isDeaf) throw new Error("no network");
        waiting++;
        return answer().finally(() => waiting--);
      },
      watch(_items, handlers) {
        stream = handlers;
        return () => {};
      },
    },
  });

  /** Waits until every answer in flight has come. */
  async function heard(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (waiting > 0);
  }

  async function hear(how: string): Promise<void> {
    if (how === "pushed") {
      const snapshot = await world.status(name);
      steady.advance(back);
      stream!.onSnapshot(snapshot);
    } else observer.refresh();
    await heard();
  }

  observer.observe(item, 1, () => {});
  await heard();

  return {
    observer,
    item,
    /** The visitor's clock. */
    local,
    /** The server's time as the observer believes it to be. */
    serverNow: () => observer.check(item, local(), 0)!.now,
    hear,
    /**
     * Carries out a step, and delivers what the observer cannot know by itself.
     *
     * @param most the largest count that a call can have.
     * @returns for a call of the visitor's: the answers of the observer and of the server.
     */
    async take({ act, ms = 0, reserve = false, ...step }: Step, most: number) {
      const tokens = Math.min(step.count ?? 0, most);
      const [a, b] = step.dice ?? [0, 0];
      const pair = [a / 1000, b / 1000] as const;
      if (act === "limit") await onPair(pair, (of) => of.limit(name, { count: tokens, reserve }));
      if (act === "refund") await onPair(pair, (of) => of.refund(name, { count: tokens }));
      if (act === "reset") await limiter.reset(name);
      if (act === "debit") observer.debit(item, tokens);
      if (act === "give back") observer.debit(item, tokens)();
      if (act === "pass") steady.advance(ms);
      if (act === "set server's") {
        world.set(ms);
        await hear("asked");
      }
      if (act === "set visitor's") {
        ahead += ms;
        isDeaf = step.isDeaf!;
        observer.status(item, 1);
        await heard();
        isDeaf = false;
      }
      if (step.delivery !== undefined) await hear(step.delivery);
      if (act === "denial") {
        const got = await onPair(pair, (of) => of.check(name, { count: most }));
        if (got.ok) return undefined;
        const { value, retryAfter } = got;
        const { config } = await limiter.getValue(name);
        const data = { kind: "RateLimited", name, value, retryAfter, config } as const;
        observer.recordDenial(item, { ...data, now: world.clock() }, most);
        // Before the answer with the whole state.
        const predicted = observer.status(item, most)!;
        await heard();
        return { predicted, got };
      }
      if (act !== "send") return undefined;
      // A snapshot that was read before the call, and arrives after it.
      const old = step.isCrossed ? await world.status(name) : undefined;
      if (old) steady.advance(1);
      const predicted = observer.status(item, tokens)!;
      const settle = observer.debit(item, tokens);
      steady.advance(there);
      const got = await onPair(pair, (of) => of.limit(name, { count: tokens }));
      steady.advance(back);
      // Without a round trip, the debit was taken at the very ms of the charge, and is exact.
      if (!got.ok || there + back > 0) settle(got.ok);
      if (old) stream!.onSnapshot(old);
      await heard();
      return { predicted, got };
    },
    [Symbol.dispose]: () => observer.close(),
  };
}

export type Follower = Awaited<ReturnType<typeof follow>>;
