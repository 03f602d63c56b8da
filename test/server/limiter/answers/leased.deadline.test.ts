/** How long calls of a leased limit wait for the store. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimiter, memoryStore, type RateLimitStore } from "../../../../server/index.js";
import { hot } from "../../../support/leased.js";

const TIMEOUT = 2000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A store whose answers wait until they are let through. */
function heldStore() {
  const { apply } = memoryStore();
  let isHeld = false;
  let held: (() => void)[] = [];
  const store: RateLimitStore = {
    async apply(decisions) {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
      return apply(decisions);
    },
  };
  return {
    store,
    hold: () => void (isHeld = true),
    answer() {
      const now = held;
      held = [];
      for (const each of now) each();
    },
  };
}

it("bounds the time of a call that waits for a block, and then for its row", async () => {
  const { store, hold, answer } = heldStore();
  const limiter = createRateLimiter({ store, limits: { hot }, timeout: TIMEOUT, logger: false });
  for (let i = 0; i < 20; i++) await limiter.limit("hot");
  const { value } = await limiter.getValue("hot");
  hold();
  // The block is used up. The next call takes another one, which is under way for long.
  const first = limiter.limit("hot", { count: value / 2 });
  await vi.advanceTimersByTimeAsync(TIMEOUT / 4);
  const second = limiter.limit("hot", { count: value / 2 }).then(
    () => "served",
    () => "failed",
  );
  let answered: string | undefined;
  void second.then((end) => (answered = end));
  await vi.advanceTimersByTimeAsync(TIMEOUT / 2);
  // That one has come, and has too little for the second call, which asks its row.
  answer();
  await first;
  await vi.advanceTimersByTimeAsync(TIMEOUT / 2 + 100);
  expect(answered).toBe("failed");
});
