import { afterEach, expect, it, vi } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimitObserver, type RateLimitSnapshot } from "../../client/index.js";
import type { WatchHandlers } from "../../client/index.js";

afterEach(() => vi.useRealTimers());

it("a debit does not count twice where the server's clock was believed to be ahead", async () => {
  vi.useFakeTimers({ now: 1000 });
  const server = createManualClock(0);
  const sync = () => server.set(Date.now());
  const config = { kind: "token bucket", rate: 3, period: 1e9 } as const;
  let value = 3;
  let asked = 0;
  let handlers: WatchHandlers | undefined;
  const snapshot = (): RateLimitSnapshot => {
    sync();
    return { name: "send", value, ts: 0, config, now: server() };
  };
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    transport: {
      async status() {
        asked++;
        // All of the round trip is on the way there, so the midpoint is off by half of it.
        await new Promise((resolve) => setTimeout(resolve, asked === 1 ? 100 : 2));
        return snapshot();
      },
      watch(_items, given) {
        handlers = given;
        return () => {};
      },
    },
  });
  const item = { name: "send" };
  observer.observe(item, 1, () => {});
  await vi.advanceTimersByTimeAsync(200);
  expect(observer.remaining(item)).toBe(3);
  const settle = observer.debit(item, 2);
  expect(observer.remaining(item)).toBe(1);
  // The server charges at once. By its clock, that is before the debit.
  value = 1;
  await vi.advanceTimersByTimeAsync(5);
  handlers!.onSnapshot(snapshot());
  // The clocks say that this snapshot may be older. The tokens say that it includes the call.
  expect(observer.remaining(item)).toBe(1);
  settle(true);
  await vi.advanceTimersByTimeAsync(200);
  expect(observer.remaining(item)).toBe(1);
  expect(observer.status(item, 1)?.ok).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
  observer.close();
});
