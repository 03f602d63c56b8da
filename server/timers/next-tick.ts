/** Read early, before a test fakes timers. Edge runtimes have no `setImmediate`. */
const schedule: (run: () => void) => unknown = globalThis.setImmediate ?? setTimeout;

/** Resolves after other work of this process has run: its timers, requests and answers. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => schedule(resolve));
}
