import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  CONFIG,
  pass,
  snapshotOf,
  startAsking,
  startByHand,
  startLive,
} from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: "a" }, { name: "b" }];

it("sends the requests of one tick together, and those that come meanwhile in the next group", async () => {
  const { observer, requests, streams } = await startLive(3);
  observer.observe(b, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  streams[1]!.onSnapshot(snapshotOf("b", 3));
  await pass(1);
  observer.refresh(a);
  observer.refresh(b);
  await pass(1);
  expect(requests.map(({ name }) => name)).toEqual(["a", "b"]);
  observer.refresh(b);
  observer.refresh(b);
  requests[0]!.answer(3);
  await pass(1);
  expect(requests).toHaveLength(1);
  requests[0]!.answer(3);
  await pass(1);
  expect(requests.map(({ name }) => name)).toEqual(["b"]);
});

it("asks for every limit, even if the requests before it get no answer", async () => {
  const { observer, requests } = startByHand({ isStreamless: true, pollInterval: 1000 });
  const names = Array.from({ length: 250 }, (_, i) => `limit${i}`);
  for (const name of names) observer.observe({ name }, 1, () => {});
  await pass(29_000);
  expect(new Set(requests.map(({ name }) => name))).toEqual(new Set(names));
});

it("does not ask for a charge that the stream has reported", async () => {
  const { observer, requests, streams } = await startLive(3);
  const settle = observer.debit(a, 1);
  await pass(1);
  streams[0]!.onSnapshot(snapshotOf("a", 2));
  settle(true);
  await pass(1);
  expect(requests).toEqual([]);
  expect(observer.remaining(a)).toBe(2);
});

it("asks for a limit that denied a call while an older request was in flight", async () => {
  const { observer, requests, streams } = startByHand();
  for (const item of [a, b]) observer.observe(item, 1, () => {});
  await pass(1);
  streams[0]!.onSnapshot(snapshotOf("a", 3));
  requests[0]!.answer(3);
  await pass(1);
  // The other limit's answer is still in flight.
  const facts = { kind: "RateLimited", name: "a", config: CONFIG } as const;
  observer.recordDenial(a, { ...facts, retryAfter: 5000, value: 0, now: Date.now() });
  requests.shift()!.answer(3);
  await pass(1);
  expect(requests.map(({ name }) => name)).toEqual(["a"]);
  requests[0]!.answer(2);
  await pass(1);
  expect(observer.remaining(a)).toBe(2);
});

it("is not offline because the server forbids one limit", async () => {
  const { observer, requests } = await startAsking({ isStreamless: true });
  requests[0]!.answer(3);
  await pass(1);
  expect(observer.connection).toBe("polling");
  const onChange = vi.fn();
  observer.observe(b, 1, onChange);
  await pass(1);
  requests[0]!.fail();
  await pass(1);
  expect(observer.connection).toBe("polling");
  expect(onChange).not.toHaveBeenCalled();
  // It is not online because one limit has not been asked for yet.
  observer.refresh();
  await pass(1);
  for (const request of requests.splice(0)) request.fail();
  await pass(1);
  expect(observer.connection).toBe("offline");
});

it("asks for nothing once it is closed", async () => {
  const { observer, requests } = startByHand({ isStreamless: true, pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(3000);
  expect(requests).toHaveLength(1);
  observer.close();
  await pass(60_000);
  expect(requests).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

it("does not poll a server whose answers are late any faster than it answers", async () => {
  const { observer, requests } = startByHand({ isStreamless: true, pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(3500);
  expect(requests).toHaveLength(1);
  requests[0]!.answer(3);
  await pass(499);
  expect(requests).toHaveLength(0);
  await pass(1);
  expect(requests).toHaveLength(1);
});

it("ignores an answer that is older than a later one", async () => {
  const { observer, requests } = await startAsking({ isStreamless: true, pollInterval: 1000 });
  const now = Date.now();
  // The first answer has timed out.
  await pass(11_000);
  expect(requests).toHaveLength(2);
  requests[1]!.answer(1);
  await pass(1);
  requests[0]!.answer(3, { now, ts: now });
  await pass(1);
  expect(observer.remaining(a)).toBe(1);
});

it("prefers a push to an answer of the same ms, and a later answer to a push", async () => {
  const { observer, requests, streams } = await startLive(3);
  observer.refresh(a);
  await pass(1);
  const now = Date.now();
  streams[0]!.onSnapshot(snapshotOf("a", 0));
  requests[0]!.answer(3, { now, ts: now });
  await pass(1);
  expect(observer.remaining(a)).toBe(0);
  observer.refresh(a);
  await pass(1);
  streams[0]!.onSnapshot(snapshotOf("a", 1));
  await pass(1);
  requests[0]!.answer(2);
  await pass(1);
  expect(observer.remaining(a)).toBe(2);
});

it("drops a debit for what is read after its charge, whatever the clocks say", async () => {
  const { observer, requests } = startByHand();
  observer.observe(a, 1, () => {});
  // Read at the very end of the round trip, and assumed to be read in the middle.
  await pass(2000);
  requests[0]!.answer(3);
  await pass(1);
  observer.debit(a, 1)(true);
  await pass(1);
  const now = Date.now();
  // Read at the very beginning.
  await pass(1998);
  requests[0]!.answer(2, { now, ts: now });
  await pass(1);
  expect(observer.remaining(a)).toBe(2);
});
