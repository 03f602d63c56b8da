import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createHeldCalls, isWaitCancelled } from "../../../client/react/held-calls.js";
import { createFakeRateLimits } from "../../../testing/index.js";
import { SECOND } from "../../../core/durations.js";

const item = { name: "quick" };

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

/** The queue of an empty limit that gets a token every second, the started calls, and its lengths. */
function startHeld() {
  const config = { kind: "token bucket", rate: 1, period: SECOND, capacity: 5 } as const;
  const limits = createFakeRateLimits({ limits: { quick: config } });
  limits.fill("quick", 0);
  const [gone, lengths]: [string[], number[]] = [[], []];
  const heldCalls = createHeldCalls(limits, item, (length) => lengths.push(length));
  return {
    limits,
    heldCalls,
    gone,
    lengths,
    enter(name: string, more: { ticket?: number; notBefore?: number; count?: number } = {}) {
      const { ticket = heldCalls.ticket(), notBefore = 0, count = 1 } = more;
      const start = () => {
        gone.push(name);
        limits.debit(item, count);
      };
      return heldCalls.enqueue({ count, ticket, start }, notBefore);
    },
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it("starts a call whose time comes while it is enqueued", async () => {
  const { limits, enter, gone } = startHeld();
  const { check } = limits;
  // Until the connection is up, which notifies all watchers.
  await pass(0);
  // A ms passes after the limit was read.
  limits.check = (...args) => {
    const checked = check(...args);
    vi.setSystemTime(2000);
    limits.check = check;
    return checked;
  };
  vi.setSystemTime(1999);
  const went = enter("a");
  await pass(2 * SECOND);
  expect(gone).toEqual(["a"]);
  await went;
});

it("starts calls by ticket, and calls with the same ticket in order", async () => {
  const { heldCalls, enter, gone } = startHeld();
  const places = [heldCalls.ticket(), heldCalls.ticket()];
  void enter("late");
  void enter("second", { ticket: places[1]! });
  void enter("first", { ticket: places[0]! });
  void enter("second again", { ticket: places[1]! });
  await pass(4 * SECOND);
  expect(gone).toEqual(["first", "second", "second again", "late"]);
});

it("starts no call before its notBefore, and needs no timer after it", async () => {
  const { limits, enter, gone } = startHeld();
  limits.fill("quick", 5);
  void enter("a", { notBefore: 4000 });
  void enter("b");
  await pass(2999);
  expect(gone).toEqual([]);
  await pass(1);
  expect(gone).toEqual(["a", "b"]);
});

it.each([
  ["put back", -3600 * SECOND, 2010],
  ["ahead after a sleep", 3600 * SECOND, 60_000],
])("starts a call in time even if the clock is %s", async (_, ms, within) => {
  const { limits, enter, gone } = startHeld();
  limits.fill("quick", 5);
  void enter("a", { notBefore: Date.now() + 4000 + Math.max(0, ms) });
  await pass(2000);
  expect(gone).toEqual([]);
  vi.setSystemTime(Date.now() + ms);
  limits.fill("quick", 5);
  await pass(within);
  expect(gone).toEqual(["a"]);
});

it("leaves nothing behind when it is cancelled", async () => {
  const { limits, heldCalls, enter, gone, lengths } = startHeld();
  await pass(0);
  const timers = vi.getTimerCount();
  const onCancel = vi.fn();
  const denied = Promise.all(
    [enter("a", { notBefore: 9000 }), enter("b")].map((entered) => entered.catch(onCancel)),
  );
  await pass(0);
  heldCalls.cancel();
  await denied;
  expect(onCancel.mock.calls.map(([error]) => isWaitCancelled(error))).toEqual([true, true]);
  expect(lengths.at(-1)).toBe(0);
  expect(vi.getTimerCount()).toBe(timers);
  limits.fill("quick", 5);
  void enter("c");
  expect(gone).toEqual(["c"]);
  // No call waits, so there is nothing to notify of.
  lengths.length = 0;
  limits.fill("quick", 0);
  limits.fill("quick", 5);
  await pass(20 * SECOND);
  expect(gone).toEqual(["c"]);
  expect(lengths).toEqual([]);
});

it("cancels calls that would have to wait while it is closed, until it is opened", async () => {
  const { heldCalls, enter, lengths, gone } = startHeld();
  const close = heldCalls.open();
  const held = enter("held").catch((error: unknown) => error);
  expect(lengths.at(-1)).toBe(1);
  close();
  expect(isWaitCancelled(await held)).toBe(true);
  expect(lengths.at(-1)).toBe(0);
  // A closed queue must not report the length of its successor.
  lengths.length = 0;
  await expect(enter("late")).rejects.toSatisfy(isWaitCancelled);
  expect(lengths).toEqual([]);
  heldCalls.open();
  void enter("again");
  expect(lengths).toEqual([1]);
  await pass(SECOND);
  expect(gone).toEqual(["again"]);
});

it.each([
  ["a failure of the network", new TypeError("fetch failed")],
  ["an abort by the application", new DOMException("aborted", "AbortError")],
  ["nothing", undefined],
  ["null", null],
])("does not take %s for a cancelled wait", (_title, error) => {
  expect(isWaitCancelled(error)).toBe(false);
});
