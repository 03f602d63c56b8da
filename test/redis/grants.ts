/**
 * Callers that take tokens continuously while a fault occurs. Afterwards, the grants that the callers got
 * are compared with the tokens that are gone. A grant whose token is still there can be granted again, so
 * it was one too many.
 */
import { setTimeout } from "node:timers/promises";
import { createRateLimiter, DAY, type RateLimitStore } from "../../server/index.js";

/** Never used up, so that every answered call is a grant. */
const CAPACITY = 1e9;
const FROZEN = Date.UTC(2030, 0, 1);
const KEYS = Array.from({ length: 60 }, (_, index) => `user ${index}`);

export interface Tally {
  granted: number;
  /** Calls that were rejected. Their tokens may be gone. */
  failed: number;
  /** Grants whose tokens are not gone. */
  over: number;
  /** Tokens that are gone although no answered call was granted them. */
  under: number;
  /** The longest time without any answer, ms. */
  silence: number;
}

export interface Grants {
  /** Resolves after `count` more grants. */
  granted(count: number): Promise<void>;
  /** Resolves after `count` more grants of every key. */
  grantedForAll(count: number): Promise<void>;
  /** Resolves after `count` more calls have failed. */
  failed(count: number): Promise<void>;
  /** Ends the calls, and reads the rows through another store. */
  tally(reader: RateLimitStore): Promise<Tally>;
}

function limiterOn(store: RateLimitStore, timeout: number) {
  const bucket = { kind: "token bucket", rate: CAPACITY, period: DAY } as const;
  return createRateLimiter({
    store,
    timeout,
    limits: { bucket },
    clock: () => FROZEN,
    logger: false,
  });
}

/** @param callers how many calls are under way at a time. */
export function startGrants(store: RateLimitStore, callers = 30, timeout = 2000): Grants {
  const limiter = limiterOn(store, timeout);
  const counts = new Map(KEYS.map((key) => [key, 0]));
  let failed = 0;
  let silence = 0;
  let lastAnswer = performance.now();
  let isStopped = false;

  async function call(caller: number): Promise<void> {
    for (let turn = caller; !isStopped; turn++) {
      const key = KEYS[turn % KEYS.length]!;
      try {
        await limiter.limit("bucket", { key });
        counts.set(key, counts.get(key)! + 1);
        const now = performance.now();
        silence = Math.max(silence, now - lastAnswer);
        lastAnswer = now;
      } catch (error) {
        if ((error as { kind?: unknown }).kind !== "StoreFailure") throw error;
        failed++;
        await setTimeout(20);
      }
    }
  }
  // Each caller begins with another key, so that a dead master does not block all callers at once.
  const calls = Promise.all(Array.from({ length: callers }, (_, caller) => call(2 * caller)));
  const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
  const waitUntil = async (isTrue: () => boolean) => {
    while (!isTrue()) await Promise.race([setTimeout(5), calls]);
  };

  return {
    granted(count) {
      const end = total() + count;
      return waitUntil(() => total() >= end);
    },
    grantedForAll(count) {
      const ends = new Map([...counts].map(([key, before]) => [key, before + count]));
      return waitUntil(() => KEYS.every((key) => counts.get(key)! >= ends.get(key)!));
    },
    failed(count) {
      const end = failed + count;
      return waitUntil(() => failed >= end);
    },
    async tally(reader) {
      isStopped = true;
      await calls;
      const reading = limiterOn(reader, 10_000);
      let [over, under] = [0, 0];
      for (const key of KEYS) {
        const gone = CAPACITY - (await reading.getValue("bucket", { key })).value;
        over += Math.max(0, counts.get(key)! - gone);
        under += Math.max(0, gone - counts.get(key)!);
      }
      return { granted: total(), failed, over, under, silence: Math.round(silence) };
    },
  };
}
