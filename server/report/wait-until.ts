/**
 * Tells the host of work that goes on after an answer: some hosts end a request's work with its response.
 */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** Hands the promise that a listener returns to the host. A rejection of this promise is ignored. */
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
