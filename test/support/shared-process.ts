/**
 * Files of tests that share a process leave its functions and its clock as they found them, and no
 * timer: what a limiter of one file still wants to do, such as to write usage, would run in the next one.
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
  // A spy on a faked timer puts the faked one back, even where the real one has come back before.
  Object.assign(globalThis, { Date, setTimeout, setInterval, setImmediate });
  Object.assign(globalThis, { clearTimeout, clearInterval, clearImmediate });
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
});

/** @returns the timers that are set and have not fired. One that was cleared stays until the end of its file. */
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
