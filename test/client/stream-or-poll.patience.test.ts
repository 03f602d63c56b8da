import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CONFIG, pass, startByHand } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

const item = { name: "send" };

/** An observer that polls a server whose answers the test releases. */
function startPolling(pollInterval: number) {
  const started = startByHand({ isStreamless: true, pollInterval });
  started.observer.observe(item, 1, () => {});
  return started;
}

it("does not wait for an answer for ever, and still takes it when it comes", async () => {
  const { observer, requests } = startPolling(1000);
  const read = { now: Date.now(), ts: 0 };
  await pass(100);
  expect(requests).toHaveLength(1);
  // The first poll waits behind the request that was sent when the limit was first observed.
  await pass(20_000);
  expect(observer.connection).toBe("offline");
  requests[0]!.answer(3, read);
  await pass(1);
  expect(observer.remaining(item)).toBe(3);
  // The next poll.
  await pass(1000);
  requests.at(-1)!.answer(2);
  await pass(1);
  expect(observer.remaining(item)).toBe(2);
  expect(observer.connection).toBe("polling");
});

it("ignores what was read before a denial", async () => {
  const { observer, requests } = startPolling(60_000);
  await pass(1);
  requests[0]!.answer(3);
  await pass(1);
  requests[0]?.answer(3);
  await pass(1);
  expect(observer.remaining(item)).toBe(3);
  observer.refresh(item);
  const read = { now: Date.now(), ts: 0 };
  await pass(50);
  const data = { kind: "RateLimited", name: "send", retryAfter: 5000, value: 0 } as const;
  observer.recordDenial(item, { ...data, config: CONFIG, now: Date.now() });
  expect(observer.status(item, 1)?.ok).toBe(false);
  await pass(50);
  requests[0]!.answer(3, read);
  await pass(1);
  expect(observer.status(item, 1)?.ok).toBe(false);
});
