import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Deadline, type Waiting } from "../../../../server/limiter/answers/deadline.js";
import { loggerOf, OutageLog } from "../../../../server/report/logger.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A call ends after the answers of its last ms were read. With faked timers that takes 1 ms. */
const READS = 1;

/** Calls that wait for up to 100 ms, and the answer of each. */
function start(timeout = 100) {
  const deadline = new Deadline(timeout, () => new Error("late"), new OutageLog(loggerOf(false)));
  const answers: string[] = [];
  const wait = (name: string): Waiting<string, string> =>
    deadline.wait({
      toDecision: () => name,
      done: (result: string) => answers.push(`${name} ${result}`),
      failed: (error) => answers.push(`${name} ${(error as Error).message}`),
    });
  return { answers, wait };
}

describe("a deadline", () => {
  it("rejects calls in the order in which they came, each on time, with one timer", () => {
    const { answers, wait } = start();
    const waiting = ["a", "b"].map(wait);
    vi.advanceTimersByTime(40);
    waiting.push(wait("c"));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(59);
    expect(answers).toEqual([]);
    vi.advanceTimersByTime(1 + READS);
    expect(answers).toEqual(["a late", "b late"]);
    expect(waiting.map(({ expired }) => expired)).toEqual([true, true, false]);
    vi.advanceTimersByTime(40);
    expect(answers).toEqual(["a late", "b late", "c late"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits once more for a call that met only the second time in which the process was busy", () => {
    let busy = 0;
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + busy);
    onTestFinished(() => clock.mockRestore());
    const { answers, wait } = start();
    const first = wait("a");
    busy += 60;
    vi.advanceTimersByTime(100);
    first.resolve("ok");
    const second = wait("b");
    busy += 80;
    vi.advanceTimersByTime(60 + READS);
    expect(answers).toEqual(["a ok"]);
    second.resolve("ok");
    wait("c");
    vi.advanceTimersByTime(200);
    expect(answers).toEqual(["a ok", "b ok", "c late"]);
  });

  it.each(["a", "b", "c", "d"])("still rejects the others when %s is answered", (name) => {
    const names = ["a", "b", "c", "d"];
    const { answers, wait } = start();
    const waiting = names.map(wait);
    waiting[names.indexOf(name)]!.resolve("ok");
    wait("e");
    vi.advanceTimersByTime(100 + READS);
    const others = [...names, "e"].filter((each) => each !== name);
    expect(answers).toEqual([`${name} ok`, ...others.map((each) => `${each} late`)]);
  });

  it("accepts answers in any order", () => {
    const names = ["a", "b", "c", "d"];
    const { answers, wait } = start();
    const waiting = names.map(wait);
    for (const index of [1, 2, 3, 0]) waiting[index]!.resolve("ok");
    expect(answers).toEqual(["b ok", "c ok", "d ok", "a ok"]);
    vi.advanceTimersByTime(100 + READS);
    expect(answers).toHaveLength(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("answers each call once and ignores later answers", () => {
    const { answers, wait } = start();
    const [answered, failed, late] = ["answered", "failed", "late"].map(wait);
    answered!.resolve("ok");
    failed!.reject(new Error("broken"));
    vi.advanceTimersByTime(100 + READS);
    for (const waiting of [answered, failed, late]) {
      waiting!.resolve("again");
      waiting!.reject(new Error("again"));
    }
    expect(answers).toEqual(["answered ok", "failed broken", "late late"]);
    expect([answered!.expired, failed!.expired, late!.expired]).toEqual([false, false, true]);
  });

  it("keeps a process alive that would end while a call waits, and sets one timer for all", () => {
    const setTimer = vi.spyOn(globalThis, "setTimeout");
    const { answers, wait } = start();
    const isAlive = () => {
      process.emit("beforeExit", 0);
      return (setTimer.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef();
    };
    const waiting = ["a", "b"].map(wait);
    expect(isAlive()).toBe(true);
    for (const each of waiting) each.resolve("ok");
    expect(isAlive()).toBe(false);
    // The same timer serves the next call, which gets its full time.
    vi.advanceTimersByTime(60);
    wait("c");
    expect(setTimer).toHaveBeenCalledOnce();
    expect(isAlive()).toBe(true);
    vi.advanceTimersByTime(99);
    expect(answers).toEqual(["a ok", "b ok"]);
    vi.advanceTimersByTime(1 + READS);
    expect(answers).toEqual(["a ok", "b ok", "c late"]);
  });

  it("waits without a bound for a timeout of Infinity", () => {
    const { answers, wait } = start(Infinity);
    const waiting = wait("a");
    expect(vi.getTimerCount()).toBe(0);
    waiting.resolve("ok");
    expect(answers).toEqual(["a ok"]);
  });
});
