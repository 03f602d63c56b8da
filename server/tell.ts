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
    // Not only where it is a `Promise`: Prisma's own begin their work when they are asked.
    if (hearing !== undefined) Promise.resolve(hearing).catch(() => {});
  } catch {
    // See above.
  }
}
