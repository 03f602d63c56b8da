import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  type AutoPruneOptions,
  createRateLimiter,
  DAY,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";

const limits = { once: { kind: "token bucket", rate: 1, period: SECOND } } as const;

/** The real stores need their own timers, so only the limiter's timers are faked. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Starts this number of limiters on one store, as so many processes. Counts their prunes. */
function startProcesses(
  processStores: readonly RateLimitStore[],
  autoPrune: true | AutoPruneOptions,
  { whenStoreFails = "fail" }: { whenStoreFails?: "fail" | "allow" } = {},
) {
  const logger = { error: vi.fn(), warn: vi.fn() };
  const clock = createManualClock();
  const prunes = vi.fn();
  const processes = processStores.map((store) =>
    createRateLimiter({
      store: { ...store, prune: (terms) => (prunes(terms), store.prune!(terms)) },
      limits,
      clock,
      autoPrune,
      whenStoreFails,
      logger,
      onDecision: (event) => expect(event.name).toBe("once"),
    }),
  );
  /** Lets this much time pass for the clock and for the timers. */
  async function pass(ms: number) {
    for (let passed = 0; passed < ms; passed += SECOND) {
      clock.advance(SECOND);
      await vi.advanceTimersByTimeAsync(SECOND);
    }
  }
  return { clock, prunes, processes, pass, logger };
}

// The first test, because the clients of databases leave timers behind.
it("autoPrune runs once per interval, until it is aborted", async () => {
  const controller = new AbortController();
  const store = memoryStore() as RateLimitStore;
  const { prunes, pass, processes } = startProcesses([store, store, store], {
    every: MINUTE,
    signal: controller.signal,
  });
  await processes[0]!.limit("once");
  await pass(10 * MINUTE);
  expect(prunes.mock.calls.length).toBeGreaterThanOrEqual(9);
  expect(prunes.mock.calls.length).toBeLessThanOrEqual(11);
  expect(await store.list!("once", undefined, 9)).toEqual([]);
  controller.abort();
  prunes.mockClear();
  await pass(5 * MINUTE);
  expect(prunes).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

it.each(stores)(
  "autoPrune deletes full rows on %s, in one of three processes per interval",
  async (_name, open) => {
    vi.useRealTimers();
    await using opened = await open({ isNew: true });
    const clock = createManualClock();
    const { store } = opened;
    const pruned = vi.fn();
    const timers = vi.spyOn(globalThis, "setTimeout");
    const all = [opened.store, opened.peer, opened.store].map((each) =>
      createRateLimiter({
        store: { ...each, prune: (terms) => (pruned(), each.prune!(terms)) },
        limits,
        clock,
        autoPrune: { every: DAY },
        random: () => 0.5,
        // The processes that lost may still ask for their turn when the test ends.
        logger: false,
      }),
    );
    const runs = timers.mock.calls
      .filter(([, ms = 0]) => ms > MINUTE)
      .map(([run]) => run as () => void);
    timers.mockRestore();
    expect(runs).toHaveLength(3);
    for (let i = 0; i < 10; i++) await all[0]!.limit("once", { key: `k${i}` });
    for (let day = 1; day <= 3; day++) {
      clock.advance(DAY);
      for (const run of runs) run();
      await vi.waitFor(async () => expect(await store.list!("once", undefined, 99)).toEqual([]));
      await vi.waitFor(() => expect(pruned).toHaveBeenCalledTimes(day));
    }
  },
);

it.each(["fail", "allow"] as const)(
  "autoPrune reports an outage once, and goes on after it (%s)",
  async (whenStoreFails) => {
    const store = memoryStore() as RateLimitStore;
    let isDown = true;
    const { submit: _, ...failing } = store;
    failing.apply = (...args) =>
      isDown
        ? Promise.reject(new RateLimitStoreError("the database is down"))
        : store.apply(...args);
    const { prunes, pass, logger } = startProcesses(
      [failing],
      { every: MINUTE },
      { whenStoreFails },
    );
    await pass(5 * MINUTE);
    expect(logger.error).toHaveBeenCalledTimes(1);
    expect(logger.error).toHaveBeenCalledWith(
      expect.stringContaining("the database is down"),
      expect.any(Error),
    );
    expect(prunes).not.toHaveBeenCalled();
    isDown = false;
    await pass(2 * MINUTE);
    expect(prunes).toHaveBeenCalled();
  },
);

it("autoPrune throws at construction for options that cannot work", () => {
  const start = (autoPrune: AutoPruneOptions, store: RateLimitStore = memoryStore() as never) =>
    createRateLimiter({ store, limits, autoPrune });
  for (const every of [0, 1.5, Number.NaN]) {
    expect(() => start({ every })).toThrow(/autoPrune.every must be a whole number of ms/);
  }
  const { apply } = memoryStore();
  expect(() => start({}, { apply })).toThrow("this store does not support prune()");
  expect(vi.getTimerCount()).toBe(0);
});
