/**
 * The calls that wait for one limit. Each starts when its time comes, first come, first served. The
 * link and the hooks share this code, and each call says by itself how long it waits. The queue is a
 * linked list, so that thousands of calls can wait: to enqueue, start or abort a call asks only that
 * call and the call that is first then.
 */
import { SECOND } from "../core/durations.js";

export interface QueuedCall {
  /** Lower tickets are ahead. Calls with equal tickets keep their order of arrival. */
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
  /** How many calls wait. */
  length(): number;
  enqueue(call: QueuedCall): void;
  /**
   * Asks a call again, for when it has a reason of its own to leave, such as an abort.
   *
   * @param call a call that was enqueued here. @default all calls
   */
  advance(call?: QueuedCall): void;
}

interface Place extends QueuedCall {
  ahead: Place;
  /** Kept when the call leaves, so that a walk through the list can go on from there. */
  behind: Place;
  isGone?: boolean;
}

/** @param onLength called with the length whenever it may have changed. */
export function createCallQueue(onLength?: (length: number) => void): CallQueue {
  /** Stands ahead of the first call and behind the last one. */
  const ends = {} as Place;
  ends.ahead = ends.behind = ends;
  let length = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let unsubscribe: (() => void) | undefined;
  /** The ms for which timers have run since all calls were asked. */
  let waited = 0;

  function stopWaiting(): void {
    clearTimeout(timer);
    unsubscribe?.();
  }

  function onTimer(ms: number): void {
    waited += ms;
    // The calls behind the first one can only give up. Once a second is soon enough for that.
    if (waited < SECOND) askFrom(ends.behind);
    else askAll();
  }

  /** Returns whether the call left. */
  function ask(call: Place): boolean {
    const isFirst = call === ends.behind;
    if (isFirst) {
      stopWaiting();
      // Subscribe before asking: a change in between would otherwise be missed.
      unsubscribe = call.subscribe?.(() => askFrom(ends.behind));
    }
    const next = call.next(isFirst);
    if (typeof next === "function") {
      if (isFirst) stopWaiting();
      call.isGone = true;
      call.ahead.behind = call.behind;
      call.behind.ahead = call.ahead;
      length--;
      next();
      return true;
    }
    if (isFirst && next) timer = setTimeout(onTimer, next, next);
    return false;
  }

  /** Asks a call. While the first call leaves, asks the one that is first then. */
  function askFrom(call: Place): void {
    let isFirst: boolean;
    do {
      isFirst = call === ends.behind;
    } while (!call.isGone && ask(call) && isFirst && (call = ends.behind) !== ends);
    onLength?.(length);
  }

  function askAll(): void {
    waited = 0;
    for (let call = ends.behind; call !== ends; call = call.behind) {
      if (!call.isGone) ask(call);
    }
    onLength?.(length);
  }

  return {
    length: () => length,
    enqueue(call) {
      let { ahead } = ends;
      while (ahead !== ends && ahead.ticket > call.ticket) ({ ahead } = ahead);
      const { behind } = ahead;
      const place: Place = Object.assign(call, { ahead, behind });
      ahead.behind = behind.ahead = place;
      length++;
      askFrom(place);
    },
    advance(call) {
      if (call) askFrom(call as Place);
      else askAll();
    },
  };
}
