import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createWaitingLine, WaitCancelled } from "../../client/react/waiting-line.js";
import { createFakeRateLimits } from "../../client/testing/index.js";
import { SECOND } from "../../core/durations.js";

const item = { name: "quick" };

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

/** The line of an empty limit that gets a token every second, what has gone, and its lengths. */
function startLine() {
  const config = { kind: "token bucket", rate: 1, period: SECOND, capacity: 5 } as const;
  const limits = createFakeRateLimits({ limits: { quick: config } });
  limits.fill("quick", 0);
  const [gone, lengths]: [string[], number[]] = [[], []];
  const line = createWaitingLine(limits, item, (length) => lengths.push(length));
  return {
    limits,
    line,
    gone,
    lengths,
    enter(name: string, more: { place?: number; notBefore?: number; count?: number } = {}) {
      const { place = line.draw(), notBefore = 0, count = 1 } = more;
      const go = () => {
        gone.push(name);
        limits.debit(item, count);
      };
      return line.enter({ count, place, notBefore, go });
    },
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it("lets a call go for which the time comes while it gets in line", async () => {
  const { limits, enter, gone } = startLine();
  const { check } = limits;
  // Until the connection is up, which tells everybody.
  await pass(0);
  // A ms passes after the look at the limit.
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

it("keeps the places of those who come back, and of those who have the same", async () => {
  const { line, enter, gone } = startLine();
  const places = [line.draw(), line.draw()];
  void enter("late");
  void enter("second", { place: places[1]! });
  void enter("first", { place: places[0]! });
  void enter("second again", { place: places[1]! });
  await pass(4 * SECOND);
  expect(gone).toEqual(["first", "second", "second again", "late"]);
});

it("lets nobody go before the time that was told, and asks for no timer after it", async () => {
  const { limits, enter, gone } = startLine();
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
])("lets a call go in time though the clock is %s", async (_, ms, within) => {
  const { limits, enter, gone } = startLine();
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
  const { limits, line, enter, gone, lengths } = startLine();
  await pass(0);
  const timers = vi.getTimerCount();
  const told = vi.fn();
  const refused = Promise.all(
    [enter("a", { notBefore: 9000 }), enter("b")].map((entered) => entered.catch(told)),
  );
  await pass(0);
  line.cancel();
  await refused;
  expect(told.mock.calls.map(([error]) => error instanceof WaitCancelled)).toEqual([true, true]);
  expect(lengths.at(-1)).toBe(0);
  expect(vi.getTimerCount()).toBe(timers);
  limits.fill("quick", 5);
  void enter("c");
  expect(gone).toEqual(["c"]);
  // Nobody waits, so nobody is told of anything.
  lengths.length = 0;
  limits.fill("quick", 0);
  limits.fill("quick", 5);
  await pass(20 * SECOND);
  expect(gone).toEqual(["c"]);
  expect(lengths).toEqual([]);
});

it("is closed for good to those who would have to wait, until it is opened", async () => {
  const { line, enter, lengths, gone } = startLine();
  const close = line.open();
  const held = enter("held").catch((error: unknown) => error);
  expect(lengths.at(-1)).toBe(1);
  close();
  expect(await held).toBeInstanceOf(WaitCancelled);
  expect(lengths.at(-1)).toBe(0);
  // What it says from now on is not about the line that has taken its place.
  lengths.length = 0;
  await expect(enter("late")).rejects.toBeInstanceOf(WaitCancelled);
  expect(lengths).toEqual([]);
  line.open();
  void enter("again");
  expect(lengths).toEqual([1]);
  await pass(SECOND);
  expect(gone).toEqual(["again"]);
});
