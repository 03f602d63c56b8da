/**
 * A stream keeps the context of its start. So the stream may report an older config than the answers do,
 * such as that of the plan before an upgrade.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CONFIG, pass, snapshotOf, startLive } from "../support/hand-transport.js";
import { a, answer, FREE, PAID, rateOf, upgrade } from "../support/plan-page.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

it("opens the stream anew when an answer has another config, and closes the old one then", async () => {
  const page = await upgrade();
  const { observer, streams } = page;
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  expect(observer.connection).toBe("live");
  streams[1]!.onSnapshot(snapshotOf("a", 30, PAID));
  expect(streams[0]!.isClosed).toBe(true);
  await pass(60_000);
  expect([streams.length, page.requests.length, rateOf(page)]).toEqual([2, 0, 30]);
});

it("notifies its watchers although the status is the same", async () => {
  const page = await startLive(1);
  const rates: unknown[] = [];
  page.observer.observe(a, 1, () => rates.push(rateOf(page)));
  page.observer.receive(snapshotOf("a", 1, PAID));
  expect(rates).toEqual([30]);
  page.observer.receive(snapshotOf("a", 1, PAID));
  expect(rates).toEqual([30]);
});

it("takes no state from the old stream, and asks instead", async () => {
  const page = await upgrade();
  page.streams[0]!.onSnapshot(snapshotOf("a", 0, FREE));
  expect([rateOf(page), page.observer.status(a, 1)?.ok]).toEqual([30, true]);
  await pass(1);
  expect(await answer(page, 27, PAID)).toBe(1);
  expect(page.observer.check(a, Date.now(), 0)?.value).toBeCloseTo(27);
  expect(page.streams).toHaveLength(2);
});

it("opens it once where the new stream has the old config, too, and goes by the answers", async () => {
  const page = await upgrade();
  const { observer, streams } = page;
  for (let i = 0; i < 20; i++) {
    streams.at(-1)!.onSnapshot(snapshotOf("a", 0, FREE));
    await pass(1);
    expect(await answer(page, 29 - i, PAID)).toBe(1);
    expect(rateOf(page)).toBe(30);
    observer.refresh();
    await pass(1);
    await answer(page, 29 - i, PAID);
  }
  expect(streams).toHaveLength(2);
  // The stream has the new config at last, and counts again.
  streams[1]!.onSnapshot(snapshotOf("a", 5, PAID));
  expect(observer.check(a, Date.now(), 0)?.value).toBeCloseTo(5);
  // The next change of the plan opens it again.
  observer.refresh(a);
  await pass(1);
  await answer(page, 1, FREE);
  expect([streams.length, rateOf(page)]).toEqual([3, 3]);
});

it("follows a plan that changes again and again", async () => {
  const page = await startLive(1);
  for (const [i, plan] of [PAID, FREE, PAID, FREE].entries()) {
    page.observer.refresh(a);
    await pass(1);
    await answer(page, 1, plan);
    expect(page.streams).toHaveLength(i + 2);
    page.streams.at(-1)!.onSnapshot(snapshotOf("a", 1, plan));
    expect(rateOf(page)).toBe(plan.config.rate);
  }
});

it("makes no further requests by itself where each answer has another config", async () => {
  const page = await startLive(1);
  let rate = 100;
  const next = () => ({ config: { ...CONFIG, rate: rate++ } });
  for (let i = 0; i < 10; i++) {
    page.observer.refresh(a);
    await pass(1);
    expect(await answer(page, 1, next())).toBe(1);
    page.streams.at(-1)!.onSnapshot(snapshotOf("a", 1, next()));
    await pass(100);
    expect([page.requests.length, page.streams.length]).toEqual([0, i + 2]);
  }
});

it("takes another config from the stream itself at once", async () => {
  const page = await startLive(1);
  page.streams[0]!.onSnapshot(snapshotOf("a", 28, PAID));
  expect(rateOf(page)).toBe(30);
  await pass(60_000);
  expect([page.streams.length, page.requests.length]).toEqual([1, 0]);
});

it("shows the config of a denial at once, and asks before it opens the stream anew", async () => {
  const page = await startLive(1);
  const { observer, streams } = page;
  const now = Date.now();
  observer.recordDenial(a, {
    kind: "RateLimited",
    name: "a",
    retryAfter: 5e7,
    value: 0,
    now,
    ...PAID,
  });
  streams[0]!.onSnapshot(snapshotOf("a", 1, FREE));
  expect([rateOf(page), observer.status(a, 1)?.ok, streams.length]).toEqual([30, false, 1]);
  await pass(1);
  await answer(page, 0, PAID);
  expect([rateOf(page), streams.length]).toEqual([30, 2]);
});

it("keeps the stream where only one procedure denies by a config of its own", async () => {
  const page = await startLive(1);
  const { observer, streams } = page;
  for (let i = 0; i < 3; i++) {
    const rateLimit = { kind: "RateLimited", name: "a", retryAfter: 5e7, value: 0 } as const;
    observer.recordDenial(a, { ...rateLimit, now: Date.now(), ...PAID });
    await pass(1);
    await answer(page, 1, FREE);
    expect(rateOf(page)).toBe(3);
  }
  expect(streams).toHaveLength(1);
});

it("opens one stream for all limits whose answers come together", async () => {
  const page = await startLive(1);
  const { observer, requests, streams } = page;
  observer.observe({ name: "b" }, 1, () => {});
  await pass(1);
  for (const request of requests.slice()) request.answer(1);
  for (const name of ["a", "b"]) streams[1]!.onSnapshot(snapshotOf(name, 1));
  await pass(1);
  observer.refresh();
  await pass(1);
  for (const request of requests.slice()) request.answer(30, PAID);
  await pass(1);
  expect(streams).toHaveLength(3);
});
