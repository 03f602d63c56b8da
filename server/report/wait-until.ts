/**
 * What goes on after an answer: a host that ends a request's work with its response has to be told.
 */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** Hands on what a listener returns, if it is a promise. Its rejection is ignored. */
export function waitingFor<TArgs extends unknown[]>(
  waitUntil: WaitUntil,
  listener: (...args: TArgs) => unknown,
): (...args: TArgs) => void {
  return (...args) => {
    const returned = listener(...args);
    if (typeof (returned as Partial<PromiseLike<unknown>> | undefined)?.then !== "function") return;
    waitUntil(Promise.resolve(returned).catch(() => {}));
  };
}
