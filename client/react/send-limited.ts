/** Sends one call under a limit, as often as that takes, and keeps the mirror's figure honest. */
import { validateCount } from "../../core/count.js";
import { isRateLimitError, RateLimitError } from "../../core/errors.js";
import type { RateLimitObserver } from "../observer.js";
import type { RateLimitItem } from "../transport.js";
import { refusalNow, type WaitingLine } from "./waiting-line.js";

export type WhenLimited = "reject" | "wait" | "send";

export interface LimitedCall {
  observer: RateLimitObserver;
  item: RateLimitItem;
  line: WaitingLine;
  whenLimited: WhenLimited;
  /** Whether the server charges for failures, instead of calls. */
  chargesErrors: boolean;
  count: number;
}

/**
 * @throws RateLimitError instead of sending, with `"reject"`; WaitCancelled with `"wait"`;
 * RateLimitInputError when `count` is negative or not finite; and whatever `send` throws.
 */
export async function sendLimited<TData>(
  send: () => Promise<TData>,
  { observer, item, line, whenLimited, chargesErrors, count }: LimitedCall,
): Promise<TData> {
  // Or it would stay at the head of the line, where every later call comes to grief over it.
  validateCount(count);
  const place = line.draw();
  let settle: (isCharged?: boolean) => void = () => {};
  const go = () => {
    if (!chargesErrors) settle = observer.debit(item, count);
  };
  const wait = (notBefore: number) => line.enter({ count, place, notBefore, go });

  if (whenLimited === "wait") await wait(0);
  else {
    const refusal = whenLimited === "reject" && refusalNow(observer, item, count);
    if (refusal) throw new RateLimitError(refusal);
    go();
  }
  for (;;) {
    try {
      const data = await send();
      settle(true);
      return data;
    } catch (error) {
      const denied = isRateLimitError(error) ? error.data.rateLimit : undefined;
      const refusal = denied?.name === item.name ? denied : undefined;
      const settleThis = settle;
      // In line again before the tokens are back, or those behind it would be off with them.
      const turn =
        whenLimited === "wait" && refusal ? wait(Date.now() + refusal.retryAfter) : undefined;
      // Denied, or nothing heard: then most likely nothing was charged. Any other answer comes
      // from a procedure that was. Where that guess is wrong, the server's own figure follows.
      if (denied !== undefined || !hasAnswer(error)) settleThis();
      else if (chargesErrors) observer.debit(item, count)(true);
      else settleThis(true);
      if (refusal) observer.refused(item, refusal, count);
      else observer.refresh(item);
      if (turn === undefined) throw error;
      await turn;
    }
  }
}

/** Whether a failure carries the server's answer, as tRPC's errors do. */
function hasAnswer(error: unknown): boolean {
  return (error as { data?: unknown } | null | undefined)?.data != null;
}
