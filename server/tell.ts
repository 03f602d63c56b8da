/**
 * Calls somebody who wants to hear of something. What becomes of that, now or, where an async
 * function has been passed, later, is no business of whoever tells: a metric that fails must not
 * turn a decision that stands into an error, nor end the process as an unhandled rejection.
 */
export function tell<TArgs extends unknown[]>(
  listener: (...args: TArgs) => unknown,
  ...args: TArgs
): void {
  try {
    const hearing = listener(...args);
    if (hearing instanceof Promise) hearing.catch(() => {});
  } catch {
    // See above.
  }
}
