/**
 * Keeps the process alive while a call waits. Waiters are asked only when the process is about to end.
 * Measured and rejected: `ref` and `unref` of a timer for each call (0.8 of the 9 µs of a lone call). A
 * call nearly always waits for something that keeps the process alive by itself, such as a connection to
 * the database.
 */

/** An object in which calls may wait. Its timer ends the wait. */
interface Waiter {
  /** Makes the timer keep the process alive, if a call waits. */
  stayAlive(): void;
}

/**
 * `process` is `undefined` in edge runtimes. Bun waits for ever at the top of a module, and emits no
 * `beforeExit`.
 */
const { process: ended, Bun: bun } = globalThis as Partial<typeof globalThis> & { Bun?: unknown };

/**
 * Whether `mayWait` has an effect. Without an effect, each waiter has to keep the process alive itself.
 */
export const tellsBeforeExit = typeof ended?.on === "function" && bun === undefined;

const KEY = Symbol.for("trpc-rate-limit.waiters");

/** Shared by all copies of this module, such as the copies of a hot reload: each process listens once. */
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

/**
 * @param waiter its `stayAlive` is called before the process ends, until `mayEnd` is called for the
 * waiter.
 */
export function mayWait(waiter: Waiter): void {
  (shared[KEY] ??= listen()).add(waiter);
}

/** The timer of the waiter has ended. */
export function mayEnd(waiter: Waiter): void {
  shared[KEY]?.delete(waiter);
}
