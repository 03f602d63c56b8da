import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deadline, type Waiting } from "../../server/deadline.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Calls that wait for up to 100 ms, and what each was told. */
function start(timeout = 100) {
  const deadline = new Deadline(timeout, () => new Error("late"));
  const told: string[] = [];
  const wait = (name: string): Waiting<string, string> =>
    deadline.wait(
      name,
      (result: string) => told.push(`${name} ${result}`),
      (error) => told.push(`${name} ${(error as Error).message}`),
    );
  return { told, wait };
}

describe("a deadline", () => {
  it("tells calls in the order in which they came, each in time, by one timer", () => {
    const { told, wait } = start();
    const waiting = ["a", "b"].map(wait);
    vi.advanceTimersByTime(40);
    waiting.push(wait("c"));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(59);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual(["a late", "b late"]);
    expect(waiting.map(({ expired }) => expired)).toEqual([true, true, false]);
    vi.advanceTimersByTime(40);
    expect(told).toEqual(["a late", "b late", "c late"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(["a", "b", "c", "d"])("still minds the others when %s is answered", (name) => {
    const names = ["a", "b", "c", "d"];
    const { told, wait } = start();
    const waiting = names.map(wait);
    waiting[names.indexOf(name)]!.resolve("ok");
    wait("e");
    vi.advanceTimersByTime(100);
    const others = [...names, "e"].filter((each) => each !== name);
    expect(told).toEqual([`${name} ok`, ...others.map((each) => `${each} late`)]);
  });

  it("takes answers in any order", () => {
    const names = ["a", "b", "c", "d"];
    const { told, wait } = start();
    const waiting = names.map(wait);
    for (const index of [1, 2, 3, 0]) waiting[index]!.resolve("ok");
    expect(told).toEqual(["b ok", "c ok", "d ok", "a ok"]);
    vi.advanceTimersByTime(100);
    expect(told).toHaveLength(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("tells each call once, whatever comes later", () => {
    const { told, wait } = start();
    const [answered, failed, late] = ["answered", "failed", "late"].map(wait);
    answered!.resolve("ok");
    failed!.reject(new Error("broken"));
    vi.advanceTimersByTime(100);
    for (const waiting of [answered, failed, late]) {
      waiting!.resolve("again");
      waiting!.reject(new Error("again"));
    }
    expect(told).toEqual(["answered ok", "failed broken", "late late"]);
    expect([answered!.expired, failed!.expired, late!.expired]).toEqual([false, false, true]);
  });

  it("keeps no process alive when all are answered, and sets one timer for all", () => {
    const setTimer = vi.spyOn(globalThis, "setTimeout");
    const { told, wait } = start();
    const isAlive = () => (setTimer.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef();
    const waiting = ["a", "b"].map(wait);
    expect(isAlive()).toBe(true);
    for (const each of waiting) each.resolve("ok");
    expect(isAlive()).toBe(false);
    // It serves the next one, too, which gets all of its time.
    vi.advanceTimersByTime(60);
    wait("c");
    expect(setTimer).toHaveBeenCalledOnce();
    expect(isAlive()).toBe(true);
    vi.advanceTimersByTime(99);
    expect(told).toEqual(["a ok", "b ok"]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual(["a ok", "b ok", "c late"]);
  });

  it("can wait for ever", () => {
    const { told, wait } = start(Infinity);
    const waiting = wait("a");
    expect(vi.getTimerCount()).toBe(0);
    waiting.resolve("ok");
    expect(told).toEqual(["a ok"]);
  });
});
