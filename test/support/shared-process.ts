/** Files of tests that share a process leave its functions and its clock as they found them. */
import { afterAll, vi } from "vitest";

const { Date, setTimeout, setInterval, setImmediate } = globalThis;
const { clearTimeout, clearInterval, clearImmediate } = globalThis;

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  // A spy on a faked timer puts the faked one back, even where the real one has come back before.
  Object.assign(globalThis, { Date, setTimeout, setInterval, setImmediate });
  Object.assign(globalThis, { clearTimeout, clearInterval, clearImmediate });
});
