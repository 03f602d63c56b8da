/**
 * Cleans up after each file of tests that share a process: functions, the clock and timers. Otherwise, a
 * timer of one file's limiter, such as for writing usage, would fire during the next file.
 */
import { promisify } from "node:util";
import { afterAll, vi } from "vitest";

type Timer = ReturnType<typeof setTimeout>;
const KEY = Symbol.for("trpc-rate-limit.test.timers");

/** Set-up runs once per file, and replaces the timers of the process once. */
const shared = globalThis as { [KEY]?: Set<Timer> };
const timers = (shared[KEY] ??= keepTimers());

const { Date, setTimeout, setInterval, setImmediate } = globalThis;
const { clearTimeout, clearInterval, clearImmediate } = globalThis;

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  // A spy on a fake timer restores the fake timer, even after the real timer was restored.
  Object.assign(globalThis, { Date, setTimeout, setInterval, setImmediate });
  Object.assign(globalThis, { clearTimeout, clearInterval, clearImmediate });
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
});

/** @returns the timers that are set and have not fired. A cleared timer stays until the end of its file. */
function keepTimers(): Set<Timer> {
  const kept = new Set<Timer>();
  const { setTimeout: once, setInterval: again } = globalThis;
  const keptOnce = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = once(() => {
      kept.delete(timer);
      work(...args);
    }, ms);
    kept.add(timer);
    return timer;
  };
  const keptAgain = (...args: Parameters<typeof setInterval>) => {
    const timer = again(...args);
    kept.add(timer);
    return timer;
  };
  const { custom } = promisify;
  Object.assign(globalThis, {
    setTimeout: Object.assign(keptOnce, { [custom]: Reflect.get(once, custom) as unknown }),
    setInterval: keptAgain,
  });
  return kept;
}
