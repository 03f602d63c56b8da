/** Snapshots with a list of windows: the list changes with each snapshot, and the config does not. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ShownConfig } from "../../core/index.js";
import { pass, snapshotOf, startLive } from "../support/hand-transport.js";

const item = { name: "a" };
const [DAY, NOW] = [86_400_000, 1e12];
const daily = (...starts: number[]): ShownConfig => {
  return { kind: "fixed window", rate: 1, period: "day", timeZone: "Asia/Tokyo", starts };
};

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

it("asks nothing anew for another list, and goes by the newest one", async () => {
  const { observer, requests, streams } = await startLive(1);
  const onChange = vi.fn();
  observer.observe(item, 1, onChange);
  const send = (value: number, ...starts: number[]) =>
    streams
      .at(-1)!
      .onSnapshot(snapshotOf("a", value, { now: Date.now(), config: daily(...starts) }));
  send(0, NOW - 5, NOW + 1000);
  await pass(1);
  const [asked, opened] = [requests.length, streams.length];
  onChange.mockClear();
  send(0, NOW - 5, NOW + 1000, NOW + DAY);
  await pass(1);
  expect(onChange).not.toHaveBeenCalled();
  expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: NOW + 1000 });
  send(0, NOW - 5, NOW + 3000, NOW + DAY);
  await pass(1);
  expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: NOW + 3000 });
  expect([requests.length, streams.length]).toEqual([asked, opened]);
});
