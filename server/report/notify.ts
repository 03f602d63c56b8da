/**
 * Calls a listener and ignores its failure, whether it throws or returns a promise that rejects. A
 * metric that fails must neither turn a decision that stands into an error, nor end the process as
 * an unhandled rejection.
 */
export function notify<TArgs extends unknown[]>(
  listener: (...args: TArgs) => unknown,
  ...args: TArgs
): void {
  try {
    const returned = listener(...args);
    // Any thenable, not only a `Promise`: Prisma's begin their work when `then` is called.
    if (returned !== undefined) Promise.resolve(returned).catch(() => {});
  } catch {
    // See above.
  }
}
