/** Read when the module loads, before a test fakes timers. Edge runtimes have no `setImmediate`. */
const schedule: (run: () => void) => unknown = globalThis.setImmediate ?? setTimeout;

/** Resolves after other work of this process has run: its timers, requests and answers. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => schedule(resolve));
}

/**
 * Calls a function after the callers have handled their answers, and after Node.js has read what has
 * arrived. `setImmediate` is read early, as above.
 */
export const afterAnswers: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
