/** Snapshots that the application passes to the observer, such as those that it has fetched itself. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pass, snapshotOf, startLive } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const a = { name: "a" };

it("are no reason to go back to an older state, however late they come", async () => {
  const { observer, requests, streams } = await startLive(3);
  const late = snapshotOf("a", 3);
  await pass(100);
  streams[0]!.onSnapshot(snapshotOf("a", 0));
  observer.receive(late);
  expect(observer.status(a, 1)?.ok).toBe(false);
  // The server's clock may have been set back, so it is asked.
  await pass(1);
  expect(requests.map(({ name }) => name)).toEqual(["a"]);
  requests[0]!.answer(2, { now: late.now, ts: late.now });
  await pass(1);
  expect(observer.check(a, Date.now(), 0)?.value).toBeCloseTo(2);
});

it("are taken at once where they are newer, without a question", async () => {
  const { observer, requests } = await startLive(3);
  observer.receive(snapshotOf("a", 0));
  expect(observer.status(a, 1)?.ok).toBe(false);
  await pass(1);
  expect(requests).toEqual([]);
});

it("are ignored where they are malformed, or about a limit that nothing follows", async () => {
  const { observer, requests } = await startLive(3);
  observer.receive(null as never);
  observer.receive(snapshotOf("b", 0));
  await pass(1);
  expect([requests, observer.status(a, 1)?.ok]).toEqual([[], true]);
});
