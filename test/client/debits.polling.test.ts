import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver, type RateLimitSnapshot } from "../../client/index.js";

const TRIP = 100;
const POLL = 60_000;

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

/** An observer without a stream, of a server whose answers are half a round trip old. */
async function startPolling() {
  const config = { kind: "token bucket", rate: 3, period: 1e9 } as const;
  const server = { value: 3, asked: [] as string[], onAsked() {} };
  const trip = () => new Promise((resolve) => setTimeout(resolve, TRIP / 2));
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    pollInterval: POLL,
    transport: {
      async status({ name }): Promise<RateLimitSnapshot> {
        server.asked.push(name);
        await trip();
        server.onAsked();
        const snapshot = { name, value: server.value, ts: 0, config, now: Date.now() };
        await trip();
        return snapshot;
      },
      watch(_items, { onEnded }) {
        onEnded();
        return () => {};
      },
    },
  });
  for (const name of ["send", "other"]) observer.observe({ name }, 1, () => {});
  // The stream is reopened all the while; the next poll is far away.
  await vi.advanceTimersByTimeAsync(10 * TRIP);
  expect(observer.remaining({ name: "send" })).toBe(3);
  expect(observer.connection).toBe("polling");
  server.asked = [];
  return { observer, server };
}

it("asks again for a debit that was charged while an earlier one was being asked for", async () => {
  const { observer, server } = await startPolling();
  const [first, second] = [1, 2].map(() => observer.debit({ name: "send" }, 1));
  server.value = 2;
  first!(true);
  // The next answer was read before the second charge.
  await vi.advanceTimersByTimeAsync(TRIP - 1);
  server.value = 1;
  second!(true);
  await vi.advanceTimersByTimeAsync(3 * TRIP);
  expect(observer.remaining({ name: "send" })).toBe(1);
  expect(server.asked).toEqual(["send", "send"]);
  observer.close();
});

it("keeps a debit beside a read from before its charge, and asks again after it", async () => {
  const { observer, server } = await startPolling();
  observer.refresh({ name: "send" });
  const settle = observer.debit({ name: "send" }, 1);
  await vi.advanceTimersByTimeAsync(TRIP);
  expect(observer.remaining({ name: "send" })).toBe(2);
  server.value = 2;
  settle(true);
  settle(true);
  expect(observer.remaining({ name: "send" })).toBe(2);
  await vi.advanceTimersByTimeAsync(3 * TRIP);
  expect(observer.remaining({ name: "send" })).toBe(2);
  expect(server.asked).toEqual(["send", "send"]);
  observer.close();
});

it("a debit stands for its own call, and for no later one", async () => {
  const { observer } = await startPolling();
  const item = { name: "send" };
  const settle = observer.debit(item, 1);
  expect(observer.claimDebit(item)).toBe(true);
  expect(observer.claimDebit(item)).toBe(false);
  settle(true);
  // A charge for a failure is known once the call has been answered.
  observer.debit(item, 2)(true);
  expect(observer.remaining(item)).toBe(0);
  expect(observer.claimDebit(item)).toBe(false);
  observer.close();
});

it("does not ask for a debit that was given back", async () => {
  const { observer, server } = await startPolling();
  const settle = observer.debit({ name: "send" }, 1);
  expect(observer.remaining({ name: "send" })).toBe(2);
  settle();
  settle(true);
  await vi.advanceTimersByTimeAsync(3 * TRIP);
  expect(observer.remaining({ name: "send" })).toBe(3);
  expect(server.asked).toEqual([]);
  observer.close();
});

it("asks once for a limit whose status queries are denied as well", async () => {
  const { observer, server } = await startPolling();
  const { config } = observer.check({ name: "send" }, Date.now(), 0)!;
  const deny = () => {
    const data = { name: "send", retryAfter: 1e8, value: 0, config, now: Date.now() };
    observer.recordDenial({ name: "send" }, { kind: "RateLimited", ...data });
  };
  // A link that gets the denial first records it like this.
  server.onAsked = () => {
    deny();
    throw new Error("denied");
  };
  deny();
  await vi.advanceTimersByTimeAsync(100 * TRIP);
  expect(server.asked).toEqual(["send"]);
  expect(observer.remaining({ name: "send" })).toBe(0);
  observer.close();
});
