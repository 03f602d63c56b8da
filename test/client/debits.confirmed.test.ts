/**
 * A charged call on a live page: the stream reports the charge. If it does not, the page asks the server.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pass, snapshotOf, startLive } from "../support/hand-transport.js";

const item = { name: "a" };

beforeEach(() => void vi.useFakeTimers({ now: 1e12 }));
afterEach(() => void vi.useRealTimers());

/** A live page that knows of three tokens, and has had the answer to a call for one. */
async function startCharged() {
  const started = await startLive(3);
  await pass(1000);
  // The stream has just become live, so the server is asked.
  for (const request of started.requests.splice(0)) request.answer(3);
  await pass(1000);
  const settle = started.observer.debit(item, 1);
  await pass(100);
  settle(true);
  return started;
}

it("does not ask when the stream reports the charge soon after the answer", async () => {
  const { observer, requests, streams } = await startCharged();
  await pass(500);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 2]);
  streams[0]!.onSnapshot(snapshotOf("a", 2));
  expect(observer.remaining(item)).toBe(2);
  await pass(60_000);
  expect(requests).toEqual([]);
});

it("asks once when the stream does not report the charge", async () => {
  const { observer, requests } = await startCharged();
  await pass(1999);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 2]);
  await pass(1);
  expect([requests.length, observer.remaining(item)]).toEqual([1, 2]);
  requests[0]!.answer(2);
  await pass(60_000);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 2]);
});

it("asks again after growing pauses until there is an answer", async () => {
  const { observer, requests } = await startCharged();
  for (const pause of [2000, 4000, 8000, 10_000, 10_000]) {
    await pass(pause - 1);
    expect(requests).toEqual([]);
    await pass(1);
    expect(requests).toHaveLength(1);
    requests[0]!.fail();
  }
  expect(observer.remaining(item)).toBe(2);
  await pass(10_000);
  // It was not charged: the store had failed.
  requests[0]!.answer(3);
  await pass(60_000);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 3]);
});

it("keeps the charge, and asks at once, when the stream reports an older state", async () => {
  const { observer, requests, streams } = await startCharged();
  // Another call took a token before this one, and the message is late.
  streams[0]!.onSnapshot(snapshotOf("a", 2, { now: Date.now() - 500 }));
  expect(observer.remaining(item)).toBe(1);
  await pass(1);
  expect(requests).toHaveLength(1);
  requests[0]!.answer(1);
  await pass(60_000);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 1]);
});

it("asks at once when the stream is lost while it waits for the report", async () => {
  const { observer, requests, streams } = await startCharged();
  streams[0]!.onLost();
  await pass(1);
  expect(requests).toHaveLength(1);
  requests[0]!.answer(2);
  await pass(5000);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 2]);
});

it("asks for nothing after it is closed", async () => {
  const { observer, requests } = await startCharged();
  observer.close();
  await pass(60_000);
  expect(requests).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

it("asks about a call that runs for long, when a state came that does not show its charge", async () => {
  const { observer, requests, streams } = await startCharged();
  streams[0]!.onSnapshot(snapshotOf("a", 2));
  observer.debit(item, 1);
  await pass(100);
  // The charge of this call, and tokens of another one that came back.
  streams[0]!.onSnapshot(snapshotOf("a", 2));
  expect(observer.remaining(item)).toBe(1);
  await pass(1900);
  requests[0]!.answer(2);
  await pass(60_000);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 2]);
});

it("asks instead of going back to a state that the stream reports late", async () => {
  const { observer, requests, streams } = await startCharged();
  observer.refresh(item);
  await pass(1);
  const now = Date.now();
  requests[0]!.answer(2);
  await pass(10);
  streams[0]!.onSnapshot(snapshotOf("a", 3, { now: now - 1 }));
  expect(observer.remaining(item)).toBe(2);
  await pass(1);
  requests[0]!.answer(2);
  await pass(60_000);
  expect([requests.length, observer.remaining(item)]).toEqual([0, 2]);
});
