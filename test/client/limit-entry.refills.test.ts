import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver } from "../../client/index.js";
import {
  CONFIG,
  createHandTransport,
  pass,
  snapshotOf,
  startAsking,
  startByHand,
} from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const a = { name: "a" };

/** An observer of a limit that gains a token every 10 ms, and holds so many now. */
async function startQuick(value: number) {
  const clock = vi.fn(() => Date.now());
  const { observer, requests, streams } = startByHand({ clock });
  const onChange = vi.fn();
  const stop = observer.observe(a, 1, onChange, () => true);
  await pass(0);
  const config = { ...CONFIG, rate: 100, period: 1000, capacity: 500 };
  requests[0]!.answer(value, { config });
  streams[0]!.onSnapshot(snapshotOf("a", value, { config }));
  await pass(0);
  expect(onChange).toHaveBeenCalled();
  onChange.mockClear();
  clock.mockClear();
  return { observer, onChange, clock, stop };
}

it("shows refills at their own pace while other limits come and go", async () => {
  const { observer, requests } = startByHand();
  const onChange = vi.fn();
  observer.observe(a, 1, onChange, () => true);
  await pass(1);
  requests[0]!.answer(1, { config: { ...CONFIG, rate: 100, period: 1000 } });
  await pass(1);
  onChange.mockClear();
  for (let i = 0; i < 20; i++) {
    const stop = observer.observe(a, 1, () => {});
    await pass(20);
    stop();
  }
  expect(onChange).not.toHaveBeenCalled();
  await pass(600);
  expect(onChange).toHaveBeenCalledTimes(1);
});

it("gives two watchers that read in one tick the same remaining tokens", async () => {
  const { observer, requests } = await startAsking();
  requests[0]!.answer(0, { config: { ...CONFIG, rate: 100, period: 1000 } });
  await pass(1);
  vi.setSystemTime(Date.now() + 100);
  const left = observer.remaining(a);
  vi.setSystemTime(Date.now() + 100);
  expect(observer.remaining(a)).toBe(left);
});

it("shows refills once a second, and computes them no more often", async () => {
  const { observer, onChange, clock } = await startQuick(1);
  await pass(999);
  expect(onChange).not.toHaveBeenCalled();
  expect(clock).not.toHaveBeenCalled();
  await pass(1);
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(observer.remaining(a)).toBe(101);
});

it("shows the remaining tokens with a status that turns ok, however soon", async () => {
  const { observer, onChange } = await startQuick(0);
  onChange.mockImplementation(() => observer.remaining(a));
  await pass(9);
  expect(onChange).not.toHaveBeenCalled();
  await pass(1);
  expect(onChange.mock.results).toMatchObject([{ value: 1 }]);
  expect(observer.status(a, 1)?.ok).toBe(true);
});

it("has no timer while no watcher shows the remaining tokens and every call may pass", async () => {
  const { observer, stop } = await startQuick(1);
  observer.observe(a, 1, () => {});
  stop();
  expect(vi.getTimerCount()).toBe(1);
  await pass(0);
  expect(vi.getTimerCount()).toBe(0);
});

it("shows the refill that fills a limit up", async () => {
  const { observer, onChange } = await startQuick(499);
  onChange.mockImplementation(() => observer.remaining(a));
  await pass(5000);
  expect(onChange.mock.results).toMatchObject([{ value: 500 }]);
});

it("shows refills after the clock was set back", async () => {
  let [ahead, steady] = [0, 0];
  const transport = createHandTransport();
  const observer = createRateLimitObserver({
    transport,
    clock: () => Date.now() + ahead,
    monotonic: () => Date.now() + steady,
  });
  observer.observe(
    a,
    1,
    () => {},
    () => true,
  );
  await pass(1);
  const config = { ...CONFIG, period: 30_000 };
  transport.requests[0]!.answer(1, { config });
  await pass(1);
  expect(observer.remaining(a)).toBe(1);
  ahead = -3_600_000;
  await pass(2000);
  transport.requests[0]!.answer(1, { config });
  await pass(11_000);
  expect(observer.remaining(a)).toBe(2);
  observer.close();
});

it("takes one debit after the other from a full limit, with the refills in between", async () => {
  const { observer } = await startQuick(500);
  observer.debit(a, 100);
  await pass(500);
  observer.debit(a, 100);
  expect(observer.remaining(a)).toBe(350);
});
