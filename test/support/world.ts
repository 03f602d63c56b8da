/**
 * A server with limits and an observer of one limit. Their clocks advance only in the steps of a
 * schedule and in simulated round trips.
 */
import { createRateLimitObserver, type WatchHandlers } from "../../client/index.js";
import { createManualClock } from "../../core/testing.js";
import type { LimitConfigs, RateLimiter } from "../../server/index.js";
import { createLimitedTRPC } from "./limited-trpc.js";
import type { Step } from "./schedule.js";

/** The latency of a request and of its answer, ms. */
export type Latency = readonly [request: number, answer: number];

/** The random values that pick two shards. */
export type Pair = readonly [number, number];

/** The random values for each pair of a limit's shards. */
export function pairsOf(shards: number): Pair[] {
  return Array.from({ length: shards }, (_, first) =>
    // The second value picks one of the other shards. 0 is the shard after the first.
    Array.from({ length: shards - 1 - first }, (_each, after): Pair => [
      (first + 0.5) / shards,
      (after + 0.5) / (shards - 1),
    ]),
  ).flat();
}

/** A server with limits. `steady` is the base of all clocks. */
export function createWorld<const TLimits extends LimitConfigs>(limits: TLimits) {
  const steady = createManualClock();
  let serverOffset = 0;
  let randomValues: number[] = [];
  const clock = () => steady() + serverOffset;
  const { limiter, t, rl } = createLimitedTRPC(limits, {
    clock,
    random() {
      if (randomValues.length === 0)
        throw new Error("the test picks no shards for this call: use onPair()");
      return randomValues.shift()!;
    },
  });
  const untyped = limiter as unknown as RateLimiter;
  const caller = t.router({ rateLimit: rl.router }).createCaller({});

  /** Runs a call that picks these two shards, if the limit has several. */
  async function onPair<TResult>(
    pair: Pair,
    call: (limiter: RateLimiter) => Promise<TResult>,
  ): Promise<TResult> {
    randomValues = [...pair];
    const result = await call(untyped);
    randomValues = [];
    return result;
  }

  return {
    limiter: untyped,
    steady,
    clock,
    /** Steps the server's clock by `ms`. */
    stepClock: (ms: number) => void (serverOffset += ms),
    /** The server's answer as if its clock showed `now`. Only for calls that write nothing. */
    async at<TResult>(now: number, call: () => Promise<TResult>): Promise<TResult> {
      const before = serverOffset;
      serverOffset = now - steady();
      const result = await call();
      serverOffset = before;
      return result;
    },
    onPair,
    status: (name: string) => caller.rateLimit.status({ name: name as keyof TLimits & string }),
  };
}

export type World = ReturnType<typeof createWorld>;

/** An observer of one limit. The limit is full at first, and the observer has its snapshot. */
export async function follow(
  world: World,
  name: string,
  skew: number,
  [requestMs, answerMs]: Latency,
) {
  const { limiter, steady, onPair } = world;
  const item = { name };
  let clientOffset = skew;
  let isOffline = false;
  let inFlight = 0;
  let stream: WatchHandlers | undefined;
  const local = () => steady() + clientOffset;

  async function answer() {
    steady.advance(requestMs);
    const snapshot = await world.status(name);
    steady.advance(answerMs);
    return snapshot;
  }

  await limiter.reset(name);
  const observer = createRateLimitObserver({
    clock: local,
    monotonic: steady,
    transport: {
      async status() {
        if (isOffline) throw new Error("the client is offline");
        inFlight++;
        return answer().finally(() => inFlight--);
      },
      watch(_items, handlers) {
        stream = handlers;
        return () => {};
      },
    },
  });

  /** Waits until no request is in flight. */
  async function settled(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (inFlight > 0);
  }

  async function deliver(delivery: string): Promise<void> {
    if (delivery === "pushed") {
      const snapshot = await world.status(name);
      steady.advance(answerMs);
      stream!.onSnapshot(snapshot);
    } else observer.refresh();
    await settled();
  }

  observer.observe(item, 1, () => {});
  await settled();

  return {
    observer,
    item,
    /** The client's clock. */
    local,
    /** The observer's estimate of the server's time. */
    serverNow: () => observer.check(item, local(), 0)!.now,
    deliver,
    /**
     * Performs a step, and delivers the changes that the observer cannot know by itself.
     *
     * @param maxCount the largest count of a call.
     * @returns for a call of the client: the prediction of the observer and the server's answer.
     */
    async perform({ act, ms = 0, reserve = false, ...step }: Step, maxCount: number) {
      const tokens = Math.min(step.count ?? 0, maxCount);
      const [a, b] = step.dice ?? [0, 0];
      const pair = [a / 1000, b / 1000] as const;
      if (act === "limit") await onPair(pair, (of) => of.limit(name, { count: tokens, reserve }));
      if (act === "refund") await onPair(pair, (of) => of.refund(name, { count: tokens }));
      if (act === "reset") await limiter.reset(name);
      // No call follows the debit. After this time, the observer believes an answer without the call.
      if (act === "debit") {
        observer.debit(item, tokens);
        steady.advance(1500);
      }
      if (act === "give back") observer.debit(item, tokens)();
      if (act === "pass") steady.advance(ms);
      if (act === "set server's") {
        world.stepClock(ms);
        await deliver("polled");
      }
      if (act === "set client's") {
        clientOffset += ms;
        isOffline = step.isOffline!;
        observer.status(item, 1);
        await settled();
        isOffline = false;
      }
      if (step.delivery !== undefined) await deliver(step.delivery);
      if (act === "denial") {
        const actual = await onPair(pair, (of) => of.check(name, { count: maxCount }));
        if (actual.ok) return undefined;
        const { value, retryAfter } = actual;
        const { config } = await limiter.getValue(name);
        const data = { kind: "RateLimited", name, value, retryAfter, config } as const;
        observer.recordDenial(item, { ...data, now: world.clock() }, maxCount);
        // Predict before the observer receives the full state.
        const predicted = observer.status(item, maxCount)!;
        await settled();
        return { predicted, actual };
      }
      if (act !== "send") return undefined;
      // This snapshot is read before the call, and arrives after the answer.
      const stale = step.isCrossed ? await world.status(name) : undefined;
      if (stale) steady.advance(1);
      const predicted = observer.status(item, tokens)!;
      const settle = observer.debit(item, tokens);
      steady.advance(requestMs);
      const actual = await onPair(pair, (of) => of.limit(name, { count: tokens }));
      steady.advance(answerMs);
      settle(actual.ok);
      if (stale) stream!.onSnapshot(stale);
      await settled();
      // A live stream reports every change. Without latency, the debit and the charge have the same
      // time, so the debit is exact.
      const isExact = requestMs + answerMs === 0;
      if (!isExact && actual.ok && observer.connection === "live") await deliver("pushed");
      return { predicted, actual };
    },
    [Symbol.dispose]: () => observer.close(),
  };
}

export type Follower = Awaited<ReturnType<typeof follow>>;
