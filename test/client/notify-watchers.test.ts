import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  pass,
  snapshotOf,
  startAsking,
  startByHand,
  startLive,
} from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: "a" }, { name: "b" }];

it("lets watchers come and go while they are notified", async () => {
  const { observer, requests } = startByHand({ isStreamless: true });
  const told = vi.fn();
  const look = () => {
    const stop = observer.observe(a, 1, () => {
      told();
      stop();
      look();
    });
  };
  look();
  await pass(1);
  requests[0]!.fail();
  await pass(1);
  expect(observer.connection).toBe("offline");
  expect(told).toHaveBeenCalledTimes(1);
});

it("knows from the cache what a call would get, before the server has answered", () => {
  const { observer } = startByHand({ cache: { get: () => snapshotOf("a", 0), set() {} } });
  const retryAt = Date.now() + Math.ceil(1e9 / 3);
  expect(observer.status(a, 1)).toEqual({ ok: false, retryAt });
});

it("keeps the server's snapshot in the cache, without debits", async () => {
  const set = vi.fn();
  const { observer, streams } = await startLive(3, { cache: { get: () => undefined, set } });
  const before = snapshotOf("a", 3);
  await pass(10);
  observer.debit(a, 1);
  streams[0]!.onSnapshot(before);
  expect(observer.remaining(a)).toBe(2);
  expect(set).toHaveBeenLastCalledWith(a, before);
});

it("corrects the clock of one limit by the answer for another", async () => {
  const { observer, requests } = await startLive(0);
  const onChange = vi.fn();
  observer.observe(a, 1, onChange);
  const before = observer.status(a, 1)!.retryAt!;
  observer.observe(b, 1, () => {});
  await pass(1);
  const now = Date.now() - 5000;
  requests[0]!.answer(3, { now, ts: now });
  await pass(1);
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(observer.status(a, 1)!.retryAt).toBe(before + 5000);
});

it("can be found by the client's links while it follows something", async () => {
  const { observer, observers } = startByHand();
  const stop = observer.observe(a, 1, () => {});
  expect([...observers]).toEqual([]);
  await pass(1);
  expect([...observers]).toEqual([observer]);
  stop();
  await pass(1);
  expect([...observers]).toEqual([]);
});

it("keeps the status of the other watchers when one of them leaves", async () => {
  const { observer } = await startLive(0);
  const stop = observer.observe(a, 1, () => {});
  const before = observer.status(a, 1);
  expect(before?.ok).toBe(false);
  stop();
  expect(observer.status(a, 1)).toBe(before);
  await pass(1);
  expect(observer.status(a, 1)).toBe(before);
});

it("throws for a debit with an invalid count, and does nothing for 0", async () => {
  const { observer, requests } = await startLive(3);
  expect(() => observer.debit(b, -1)).toThrow("count must be");
  observer.debit(a, 0)(true);
  await pass(1);
  expect(requests).toEqual([]);
});

it("leaves no timer behind", async () => {
  const { observer, requests, streams } = await startAsking({ isStreamless: true });
  requests[0]!.answer(0);
  await pass(1);
  // The wait, the poll and the next attempt at a stream.
  expect(vi.getTimerCount()).toBe(3);
  observer.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(streams).toHaveLength(1);
});

it("leaves out the key where there is none", async () => {
  const get = vi.fn();
  const { observer } = startByHand({ cache: { get, set() {} } });
  observer.observe({ name: "a", key: undefined }, 1, () => {});
  expect(get.mock.lastCall).toStrictEqual([a]);
});

it("notifies the other watchers when one of them throws", async () => {
  const { observer, requests } = startByHand({ isStreamless: true, pollInterval: 1000 });
  const onChange = vi.fn();
  observer.observe(a, 1, () => {
    throw new Error("a bug of the page's");
  });
  observer.observe(a, 1, onChange);
  await pass(1);
  requests[0]!.answer(3);
  // The error reaches the page's own error reports.
  await expect(pass(1)).rejects.toThrow("a bug");
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(observer.connection).toBe("polling");
  await pass(1000);
  requests[0]!.fail();
  await expect(pass(1)).rejects.toThrow("a bug");
  expect(onChange).toHaveBeenCalledTimes(2);
  expect(observer.connection).toBe("offline");
  await pass(1000);
  expect(requests).toHaveLength(1);
});

it("notifies the other watchers by the clock that one of them has corrected", async () => {
  const { observer, requests } = startByHand();
  let onNotify = () => {};
  observer.observe(a, 1, () => onNotify());
  observer.observe(b, 1, () => {});
  await pass(1);
  for (const request of requests.splice(0)) request.answer(0);
  await pass(1);
  const { retryAt } = observer.status(b, 1)!;
  const onChange = vi.fn();
  observer.observe(b, 1, () => onChange(observer.status(b, 1)!.retryAt));
  // Both are notified, and the first corrects the clock again at once.
  onNotify = () => {
    onNotify = () => {};
    observer.receive(snapshotOf("a", 1, { now: Date.now() + 9000 }));
  };
  observer.receive(snapshotOf("a", 1, { now: Date.now() + 5000 }));
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(onChange).toHaveBeenCalledWith(retryAt! - 9000);
});
