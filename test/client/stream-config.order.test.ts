/** Answers and reports that arrive late, or in another order than the server read them in. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CONFIG, pass, snapshotOf, startAsking, startLive } from "../support/hand-transport.js";
import { a, answer, FREE, PAID, type Page, rateOf, upgrade } from "../support/plan-page.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

/** The stream reports the free plan. The page asks, and opens it anew. */
async function staysPaid(page: Page): Promise<void> {
  const { streams } = page;
  streams[0]!.onSnapshot(snapshotOf("a", 3, FREE));
  expect(rateOf(page)).toBe(30);
  await pass(1);
  expect(await answer(page, 30, PAID)).toBe(1);
  expect([rateOf(page), streams.length]).toEqual([30, 2]);
}

it("takes an answer with another config although the stream reported a change meanwhile", async () => {
  const page = await startLive(1);
  page.observer.refresh(a);
  await pass(1);
  const [request] = page.requests;
  const readAt = Date.now();
  await pass(10);
  page.streams[0]!.onSnapshot(snapshotOf("a", 0, FREE));
  request!.answer(28, { ...PAID, now: readAt, ts: readAt });
  await pass(1);
  expect([rateOf(page), page.streams.length]).toEqual([30, 2]);
});

it("takes no state of a stream that was opened for a config of the past, though it delivers late", async () => {
  const page = await upgrade();
  const { observer, streams } = page;
  const team = { config: { ...CONFIG, rate: 50 } };
  observer.refresh(a);
  await pass(1);
  await answer(page, 50, team);
  // Its context is the one of the upgrade before.
  streams[1]!.onSnapshot(snapshotOf("a", 30, PAID));
  expect(rateOf(page)).toBe(50);
  await pass(1);
  expect(await answer(page, 50, team)).toBe(1);
  expect([rateOf(page), streams.length]).toEqual([50, 3]);
  streams[2]!.onSnapshot(snapshotOf("a", 49, team));
  expect(observer.check(a, Date.now(), 0)?.value).toBeCloseTo(49);
  // The stream itself may go back.
  streams[2]!.onSnapshot(snapshotOf("a", 30, PAID));
  streams[2]!.onSnapshot(snapshotOf("a", 50, team));
  await pass(60_000);
  expect([page.requests.length, streams.length, rateOf(page)]).toEqual([0, 3, 50]);
});

it("takes no state of the first stream when the plan has changed before it delivers", async () => {
  const page = await startAsking();
  const { observer } = page;
  await answer(page, 3, FREE);
  observer.refresh(a);
  await pass(1);
  await answer(page, 30, PAID);
  await staysPaid(page);
});

it("takes no answer from before a snapshot that the application has fetched, if its config is another", async () => {
  const page = await startLive(1);
  const { observer, requests } = page;
  observer.refresh(a);
  await pass(1);
  const readAt = Date.now();
  await pass(10);
  observer.receive(snapshotOf("a", 30, PAID));
  requests[0]!.answer(1, { ...FREE, now: readAt, ts: readAt });
  await pass(1);
  expect(rateOf(page)).toBe(30);
  // It was read on the old plan, so it is asked for once more.
  expect(await answer(page, 30, PAID)).toBe(1);
  expect([rateOf(page), page.requests.length]).toEqual([30, 0]);
});

it("takes no first state of a stream against an answer, since another tab may have opened it long ago", async () => {
  const page = await startAsking();
  await answer(page, 30, PAID);
  await staysPaid(page);
});

it("takes no first state of a stream against an answer, where the page came with its snapshot", async () => {
  const cached = snapshotOf("a", 3, FREE);
  const cache = { get: () => cached, set() {}, isFresh: () => true };
  const page = await startAsking({ cache });
  const { observer } = page;
  expect(page.requests).toEqual([]);
  observer.refresh(a);
  await pass(1);
  await answer(page, 30, PAID);
  await staysPaid(page);
});

it("takes the first state of a stream where the page only had a cached snapshot", async () => {
  const cache = { get: () => snapshotOf("a", 3, FREE), set() {} };
  const page = await startAsking({ cache });
  page.streams[0]!.onSnapshot(snapshotOf("a", 30, PAID));
  expect(rateOf(page)).toBe(30);
});

it("opens the stream anew for each upgrade, though the stream itself has reported the end of the last one", async () => {
  const page = await upgrade();
  const { observer, streams } = page;
  streams[1]!.onSnapshot(snapshotOf("a", 30, PAID));
  // It has connected again by itself, and so has a new context.
  streams[1]!.onSnapshot(snapshotOf("a", 3, FREE));
  observer.refresh(a);
  await pass(1);
  await answer(page, 30, PAID);
  expect([rateOf(page), streams.length]).toEqual([30, 3]);
});

it("takes no state of a stream for a config of the past, though the old stream has reported meanwhile", async () => {
  const page = await upgrade();
  const { observer, streams } = page;
  observer.refresh(a);
  await pass(1);
  await answer(page, 3, FREE);
  streams[0]!.onSnapshot(snapshotOf("a", 2, FREE));
  // It was opened on the paid plan, and delivers late.
  streams[1]!.onSnapshot(snapshotOf("a", 30, PAID));
  expect(rateOf(page)).toBe(3);
  await pass(1);
  expect(await answer(page, 2, FREE)).toBe(1);
  expect([rateOf(page), streams.length]).toEqual([3, 3]);
});
