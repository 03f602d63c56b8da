/** The calls that one hook holds back until its limit allows them, without asking the server. */
import { MINUTE } from "../../core/durations.js";
import { createCallQueue } from "../call-queue.js";
import { createWait } from "../clocks.js";
import { denialNow } from "../denial.js";
import type { RateLimitItem, RateLimitObserver } from "../types.js";

interface HeldCall {
  /** Tokens that the call takes. */
  count: number;
  /** Lower tickets start first. A call that comes back keeps its ticket. */
  ticket: number;
  /** Starts the call. Called before the next call is looked at. */
  start(): void;
}

export interface HeldCalls {
  /** A place behind all places given out so far. */
  ticket(): number;
  /**
   * Resolves when the call has started, at once where it need not wait. Rejects on `cancel`.
   *
   * @param notBefore epoch ms on this machine's clock; the call starts no earlier, whatever the
   * observer says.
   */
  enqueue(call: HeldCall, notBefore: number): Promise<void>;
  /** Rejects all calls that wait, with an error for which `isWaitCancelled` is true. */
  cancel(): void;
  /**
   * Allows calls to wait again. Returns a function that cancels the calls and closes the queue. A closed
   * queue still starts calls that need not wait: a call made just before its page was left arrives
   * just after.
   */
  open(): () => void;
}

/** A call waited for its limit, and will not be sent any more. */
class WaitCancelled extends Error {
  override readonly name = "AbortError";
  readonly kind = "WaitCancelled";
}

/**
 * Whether a mutation failed because it was cancelled while it was held, with `whenLimited: "wait"`.
 * Such a mutation was never sent, and the server was not asked.
 *
 * @param error what `onError` gets, or what `mutateAsync` rejects with.
 *
 * @example
 * import { isWaitCancelled } from "trpc-rate-limit/react";
 *
 * const onError = (error: unknown) => {
 *   if (!isWaitCancelled(error)) console.error(error);
 * };
 */
export function isWaitCancelled(error: unknown): boolean {
  return (error as Partial<WaitCancelled> | null | undefined)?.kind === "WaitCancelled";
}

const CANCELLED = "The call was cancelled while it waited";

/** @param onLength called with the number of waiting calls, whenever it may have changed. */
export function createHeldCalls(
  observer: RateLimitObserver,
  item: RateLimitItem,
  onLength: (length: number) => void,
): HeldCalls {
  let tickets = 0;
  /** How often the calls have been cancelled. */
  let cancels = 0;
  let isOpen = true;
  const queue = createCallQueue((length) => {
    observer.onKept?.(item, length, onLength);
    // A closed queue may have a successor, and then the successor's length counts.
    if (isOpen) onLength(length);
  });

  function cancel(): void {
    cancels++;
    queue.advance();
  }

  return {
    ticket: () => tickets++,
    enqueue: ({ count, ticket, start }, notBefore) =>
      new Promise((resolve, reject) => {
        const wait = createWait(notBefore);
        const cancelsBefore = cancels;
        queue.enqueue({
          ticket,
          subscribe: (onChange) => observer.observe(item, count, onChange),
          next(isFirst) {
            if (cancels > cancelsBefore) return () => reject(new WaitCancelled(CANCELLED));
            const ms = wait();
            // A timer sleeps when the machine does, so look again every minute.
            if (ms > 0) return Math.min(ms, MINUTE);
            // The observer notifies when the denial ends.
            if (!isFirst || denialNow(observer, item, count)) return undefined;
            return () => resolve(start());
          },
        });
        if (!isOpen) cancel();
      }),
    cancel,
    open() {
      isOpen = true;
      return () => {
        cancel();
        isOpen = false;
      };
    },
  };
}
