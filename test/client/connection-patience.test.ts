import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver, type RateLimitSnapshot } from "../../client/index.js";

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

const config = { kind: "token bucket", rate: 3, period: 1e9 } as const;
const item = { name: "send" };

/** An observer that polls a server whose answers the test lets go, in the order of the questions. */
function startPolling(pollInterval: number) {
  const questions: ((value: number) => void)[] = [];
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    pollInterval,
    transport: {
      status({ name }) {
        const now = Date.now();
        return new Promise<RateLimitSnapshot>((resolve) => {
          questions.push((value) => resolve({ name, value, ts: 0, config, now }));
        });
      },
      watch(_items, { onEnded }) {
        onEnded();
        return () => {};
      },
    },
  });
  observer.observe(item, 1, () => {});
  return { observer, questions };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it("does not wait for ever for an answer, and still takes it when it comes", async () => {
  const { observer, questions } = startPolling(1000);
  await pass(100);
  expect(questions).toHaveLength(1);
  // The question of the first poll stands behind the one that was asked as the limit came up.
  await pass(20_000);
  expect(observer.connection).toBe("offline");
  questions.shift()!(3);
  await pass(1);
  expect(observer.left(item)).toBe(3);
  // The next poll.
  await pass(1000);
  questions.at(-1)!(2);
  await pass(1);
  expect(observer.left(item)).toBe(2);
  expect(observer.connection).toBe("polling");
  observer.close();
});

it("does not take what was read before a refusal for news", async () => {
  const { observer, questions } = startPolling(60_000);
  await pass(1);
  questions.shift()!(3);
  await pass(1);
  questions.shift()?.(3);
  await pass(1);
  expect(observer.left(item)).toBe(3);
  observer.refresh(item);
  await pass(50);
  const data = { kind: "RateLimited", name: "send", retryAfter: 5000, value: 0, config } as const;
  observer.refused(item, { ...data, now: Date.now() });
  expect(observer.status(item, 1)?.ok).toBe(false);
  await pass(50);
  questions.shift()!(3);
  await pass(1);
  expect(observer.status(item, 1)?.ok).toBe(false);
  observer.close();
});
