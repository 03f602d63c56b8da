/** `rememberDenials` beside calls of the same process that give tokens back at the same moment. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  type ChangeListener,
  createRateLimiter,
  DAY,
  HOUR,
  type RateLimitStore,
} from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const CAPACITY = 10;
const limits = {
  few: { kind: "token bucket", rate: CAPACITY, period: DAY, rememberDenials: HOUR },
} as const;
const config = { ...limits.few, capacity: 5 * CAPACITY };

/** The store itself. It holds the answers to calls that come while it `isHolding`. */
function holdingAnswers(real: RateLimitStore) {
  const rest = { ...real };
  // All calls then come through `apply`.
  delete rest.submit;
  const held: (() => void)[] = [];
  const gate = { isHolding: false, held: () => held.length, release: () => held.shift()!() };
  const store: RateLimitStore = {
    ...rest,
    async apply(decisions, call) {
      const { isHolding } = gate;
      const results = await rest.apply(decisions, call);
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return results;
    },
  };
  return { store, gate };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}

describe.each(stores)("on %s", (_, open) => {
  it("does not remember a denial that was decided before tokens came, and answered after", async () => {
    await using opened = await open();
    const { store, gate } = holdingAnswers(opened.store);
    const listeners = new Set<ChangeListener>();
    const channel = {
      publish: (digest: string) => void digests.push(digest),
      subscribe: (listener: ChangeListener) => (listeners.add(listener), () => {}),
    };
    const digests: string[] = [];
    const clock = createManualClock();
    const limiter = createRateLimiter({ store, clock, limits, channel });
    // Another denial, or the limiter does not listen yet.
    await limiter.limit("few", { key: "another", count: CAPACITY });
    await limiter.limit("few", { key: "another" });
    const other = createRateLimiter({ store: opened.peer, clock, limits, channel });
    const comes = {
      refund: (key: string) => limiter.refund("few", { key, count: CAPACITY }),
      reset: (key: string) => limiter.reset("few", { key }),
      forget: (key: string) => limiter.forget(key),
      "another config": (key: string) => limiter.limit("few", { key, config, count: 0.5 }),
      async news(key: string) {
        await other.reset("few", { key });
        for (const listener of listeners) listener(digests.at(-1)!);
      },
    };
    for (const [key, come] of Object.entries(comes)) {
      await limiter.limit("few", { key, count: CAPACITY });
      gate.isHolding = true;
      const late = limiter.limit("few", { key });
      await until(() => gate.held() === 1);
      gate.isHolding = false;
      await come(key);
      gate.release();
      expect(await late).toMatchObject({ ok: false });
      expect({ key, ...(await limiter.limit("few", { key })) }).not.toHaveProperty("remembered");
    }
  });

  it("lets a flood have what a reset of this process has brought", async () => {
    const { limiter } = await twoProcesses(open, limits);
    // Nothing is refilled, so a denial that is remembered by mistake lasts until the test times out.
    const all = { count: CAPACITY };
    await limiter.limit("few", all);
    for (let round = 0; round < 30; round++) {
      let granted = 0;
      let known = 0;
      const caller = async () => {
        while (granted === 0) {
          const result = await limiter.limit("few", all);
          if (result.ok) granted++;
          else if (result.remembered) known++;
          // Answers from memory wait for nothing, and those of a database have to be read.
          await setImmediate();
        }
      };
      const callers = Array.from({ length: 8 }, caller);
      if (round % 2 === 0) await until(() => known > 0);
      await (round % 3 === 0 ? limiter.refund("few", all) : limiter.reset("few"));
      await Promise.all(callers);
      expect(granted).toBe(1);
    }
  });

  it("forgets what a transaction of this process has given back, at its commit", async () => {
    await using opened = await open();
    const limiter = createRateLimiter({ store: opened.store, clock: createManualClock(), limits });
    await limiter.limit("few", { count: CAPACITY });
    await limiter.limit("few");
    expect(await limiter.limit("few")).toHaveProperty("remembered");
    await limiter.transaction(({ refund }) => refund("few"));
    expect((await limiter.limit("few")).ok).toBe(true);
  });

  it("does not remember what is read while a transaction that gives back is not committed", async () => {
    await using opened = await open();
    const { store, gate } = holdingAnswers(opened.store);
    const limiter = createRateLimiter({ store, clock: createManualClock(), limits });
    await limiter.limit("few", { count: CAPACITY });
    gate.isHolding = true;
    const late = limiter.limit("few");
    await until(() => gate.held() === 1);
    gate.isHolding = false;
    await limiter.transaction(async ({ reset }) => {
      await reset("few");
      gate.release();
      // The bucket is reset, and no other call sees that before the commit.
      expect(await late).toMatchObject({ ok: false });
    });
    expect((await limiter.limit("few")).ok).toBe(true);
  });
});
