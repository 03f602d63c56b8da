/**
 * The calls that wait for one limit. Each starts when its time comes, first come, first served. The
 * link and the hooks share it, and each call says by itself how long it waits.
 */

export interface QueuedCall {
  /** Lower tickets are ahead. Equal ones keep their order of arrival. */
  ticket: number;
  /**
   * Says what the call does next.
   *
   * - A function: the call leaves the queue, because it starts or gives up. The queue removes the
   *   call, and then runs the function before it asks the next call.
   * - A number: the call waits, and wants to be asked again after so many ms.
   * - `undefined`: the call waits for a change that it has subscribed to.
   *
   * @param isFirst whether no other call is ahead. Only the first call may start.
   */
  next(isFirst: boolean): (() => void) | number | undefined;
  /** Notifies of a change that may shorten the wait; returns how to unsubscribe. */
  subscribe?(onChange: () => void): () => void;
}

export interface CallQueue {
  /** The calls that wait, in order. */
  readonly calls: readonly QueuedCall[];
  enqueue(call: QueuedCall): void;
  /** Asks the calls again. For when a call has a reason of its own to leave, such as an abort. */
  advance(): void;
}

/** @param onLength called with the length whenever it may have changed. */
export function createCallQueue(onLength?: (length: number) => void): CallQueue {
  const calls: QueuedCall[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let unsubscribe: (() => void) | undefined;

  function stopWaiting(): void {
    clearTimeout(timer);
    unsubscribe?.();
  }

  function advance(): void {
    stopWaiting();
    for (let i = 0, call; (call = calls[i]); i++) {
      // Subscribe before asking: a change in between would otherwise be missed.
      if (i === 0) unsubscribe = call.subscribe?.(advance);
      const next = call.next(i === 0);
      if (typeof next === "function") {
        stopWaiting();
        calls.splice(i, 1);
        next();
        // Start over: the call that left may have called back, and moved others on.
        return advance();
      }
      if (i === 0 && next) timer = setTimeout(advance, next);
    }
    onLength?.(calls.length);
  }

  return {
    calls,
    enqueue(call) {
      calls.push(call);
      calls.sort((a, b) => a.ticket - b.ticket);
      advance();
    },
    advance,
  };
}
