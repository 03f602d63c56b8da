/**
 * Keeps the process alive for what waits. To make a timer count, and not count any more, takes 0.8 of the
 * 9 µs of a lone call, and what a call waits for nearly always keeps the process alive by itself: a
 * connection to the database does. So it is asked only when a process is about to end.
 */

/** What may wait, and has a timer that ends the wait. */
interface Waiter {
  /** Makes the timer keep the process alive, if something waits. */
  stayAlive(): void;
}

/** In edge runtimes there is no process. Bun waits for ever at the top of a module, and tells nobody. */
const { process: ended, Bun: bun } = globalThis as Partial<typeof globalThis> & { Bun?: unknown };

/** Whether `mayWait` has an effect. Where it has none, what waits has to keep the process alive itself. */
export const tellsBeforeExit = typeof ended?.on === "function" && bun === undefined;

const KEY = Symbol.for("trpc-rate-limit.waiters");

/** Shared by all copies of this module, such as those of a hot reload: each process listens once. */
const shared = globalThis as { [KEY]?: Set<Waiter> };

function listen(): Set<Waiter> {
  const waiters = new Set<Waiter>();
  if (tellsBeforeExit) {
    ended!.on("beforeExit", () => {
      for (const waiter of waiters) waiter.stayAlive();
    });
  }
  return waiters;
}

/** @param waiter is asked before the process ends, until `mayEnd` is called for it. */
export function mayWait(waiter: Waiter): void {
  (shared[KEY] ??= listen()).add(waiter);
}

/** Its timer has ended. */
export function mayEnd(waiter: Waiter): void {
  shared[KEY]?.delete(waiter);
}
