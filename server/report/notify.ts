/**
 * Calls a listener, and ignores an error that it throws and a rejection of the promise that it returns. A
 * metric that fails must neither turn a decision into an error, nor end the process as an unhandled
 * rejection.
 */
export function notify<TArgs extends unknown[]>(
  listener: (...args: TArgs) => unknown,
  ...args: TArgs
): void {
  try {
    const returned = listener(...args);
    // Any thenable, not only a `Promise`: the promises of Prisma begin their work when `then` is called.
    if (returned !== undefined) Promise.resolve(returned).catch(() => {});
  } catch {
    // See above.
  }
}
