/**
 * Calls that wait for their limit: each goes when its time comes, first come, first served, without
 * anybody asking the server. Knows nothing of React, nor of what the calls do.
 */
import { MINUTE } from "../../core/durations.js";
import type { RateLimitErrorData } from "../../core/errors.js";
import type { RateLimitObserver } from "../observer.js";
import { refusalOf } from "../refusal.js";
import type { RateLimitItem } from "../transport.js";
import { timeLeft } from "./time-left.js";

interface Waiting {
  /** Tokens that the call takes. */
  count: number;
  /** Lower places go first; a call that comes back has kept its place. */
  place: number;
  /** Epoch ms on this machine's clock; not earlier, whatever the observer says. */
  notBefore: number;
  /** Called at the moment it may go, before the next one is looked at. */
  go(): void;
}

export interface WaitingLine {
  /** A place behind everybody who has one. */
  draw(): number;
  /** Resolves when it has gone, at once where it need not wait. Rejects when it is cancelled. */
  enter(waiting: Waiting): Promise<void>;
  /** Sends everybody home, with a {@link WaitCancelled}. */
  cancel(): void;
  /**
   * Opens a line that was closed; returns how to close it, which sends everybody home. Then nobody
   * waits any more: a call made just before its page was left gets here just after.
   */
  open(): () => void;
}

/** A call was held back until its time, and will not be sent any more. */
export class WaitCancelled extends Error {
  override readonly name = "AbortError";
  readonly kind = "WaitCancelled";
}

/** @param onLength told how many wait, whenever that may have changed. */
export function createWaitingLine(
  observer: RateLimitObserver,
  item: RateLimitItem,
  onLength: (length: number) => void,
): WaitingLine {
  const line: {
    waiting: Waiting;
    pause(): number;
    gone(): void;
    cancelled(error: Error): void;
  }[] = [];
  let drawn = 0;
  let isOpen = true;
  let unfollow = () => {};

  function advance(): void {
    unfollow();
    for (let head; (head = line[0]);) {
      const { count, go } = head.waiting;
      // Followed before it is looked at: what has changed before that, nobody tells.
      const stop = observer.observe(item, count, advance);
      const pause = head.pause();
      // A timer sleeps when the machine does.
      const timer = pause > 0 ? setTimeout(advance, Math.min(pause, MINUTE)) : undefined;
      unfollow = () => {
        clearTimeout(timer);
        stop();
      };
      if (timer || refusalNow(observer, item, count)) break;
      unfollow();
      line.shift();
      go();
      head.gone();
    }
    // A closed line may have a successor, whose length is the one to tell.
    if (isOpen) onLength(line.length);
  }

  function cancel(): void {
    for (const { cancelled } of line.splice(0)) {
      cancelled(new WaitCancelled("The call waited for its rate limit, and was cancelled"));
    }
    advance();
  }

  return {
    draw: () => drawn++,
    enter: (waiting) =>
      new Promise((gone, cancelled) => {
        const behind = line.findIndex((other) => other.waiting.place > waiting.place);
        const pause = timeLeft(waiting.notBefore);
        line.splice(behind < 0 ? line.length : behind, 0, { waiting, pause, gone, cancelled });
        advance();
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

/** What a call is known to be refused with now, see {@link refusalOf}. */
export function refusalNow(
  observer: RateLimitObserver,
  item: RateLimitItem,
  count: number,
): RateLimitErrorData | undefined {
  const now = Date.now();
  return refusalOf(item.name, observer.check(item, now, count), now, count);
}
