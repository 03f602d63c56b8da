/** Sends one call under a limit, again after each wait, and keeps the observer's debits right. */
import { isNever } from "../../core/config.js";
import { validateCount } from "../../core/count.js";
import {
  type DenialMessage,
  denialsOf,
  isRateLimitError,
  RateLimitError,
} from "../../core/errors.js";
import { denialNow } from "../denial.js";
import type { RateLimitItem, RateLimitObserver, WhenLimited } from "../types.js";
import type { HeldCalls } from "./held-calls.js";

export interface LimitedCall {
  observer: RateLimitObserver;
  item: RateLimitItem;
  queue: HeldCalls;
  whenLimited: WhenLimited;
  /** Whether the server charges for every call, or only for calls that fail. */
  on: "call" | "error";
  count: number;
  /** The message of a call that is not sent. */
  denialMessage?: DenialMessage | undefined;
}

/**
 * @throws RateLimitError instead of sending, with `"reject"`; WaitCancelled with `"wait"`;
 * RateLimitInputError when `count` is negative or not finite; and every error of `send`.
 */
export async function sendLimited<TData>(
  send: () => Promise<TData>,
  { observer, item, queue, whenLimited, on, count, denialMessage }: LimitedCall,
): Promise<TData> {
  // Validate first: a wrong count at the head of the queue would fail every later call.
  validateCount(count);
  let settle: (isCharged?: boolean) => void = () => {};
  const start = () => {
    if (on === "call") settle = observer.debit(item, count);
  };
  const call = { count, ticket: queue.ticket(), start };

  if (whenLimited === "wait") await queue.enqueue(call, 0);
  else {
    const predicted = whenLimited === "reject" && denialNow(observer, item, count);
    if (predicted) {
      observer.onKept?.(item, predicted, count);
      throw new RateLimitError(predicted, denialMessage);
    }
    start();
  }
  for (;;) {
    try {
      const data = await send();
      settle(true);
      return data;
    } catch (error) {
      const denial = isRateLimitError(error) ? error.data.rateLimit : undefined;
      const isOwn = denial && denialsOf(denial).some((one) => one.name === item.name);
      // An error of tRPC's carries the server's answer as `data`.
      const answer = (error as { data?: unknown } | null | undefined)?.data;
      const settleThis = settle;
      // Enqueue again before the debit is undone, or a later call takes the tokens.
      const turn =
        whenLimited === "wait" &&
        isOwn &&
        !isNever(denial.retryAfter) &&
        queue.enqueue(call, Date.now() + denial.retryAfter);
      // A denied call was not charged, and a call without an answer most likely was not. Any other
      // answer comes from a procedure that was charged. The server corrects a wrong guess.
      if (denial || answer == null) settleThis();
      else if (on === "error") observer.debit(item, count)(true);
      else settleThis(true);
      if (denial) observer.recordDenial(item, denial, count);
      if (!isOwn) observer.refresh(item);
      if (!turn) throw error;
      await turn;
    }
  }
}
