/**
 * The denials that a link can predict before it sends a call. The predictions come from the observers of
 * the link's client. For a limit that no observer follows, the prediction comes from the last denial.
 */
import { isRateLimitError, type RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { serverTime } from "./clocks.js";
import { denialOf, explainDenials } from "./denial.js";
import { idOf } from "./limit-entry.js";
import { predict, take } from "./prediction.js";
import type { LimitUse, LinkedLimit, RateLimitObserver } from "./types.js";

export interface KnownDenials {
  /** Records that a call was denied, by the limit of `use` or by others. */
  learn(use: LimitUse, data: RateLimitErrorData): void;
  /**
   * The denial that a call would get now. `undefined` where no denial is known. Also
   * `undefined` where the call could never pass: the server explains that better.
   *
   * @param isLearnt whether only an earlier denial connects the call with the limit. Then that
   * denial alone decides: such a call may reserve, and be granted where others are not.
   */
  find(use: LimitUse, isLearnt: boolean): RateLimitErrorData | undefined;
  /**
   * Claims a debit that the caller has made. With such a debit, the caller has already decided to send
   * the call. A call of 0 tokens claims no debit, because none was made for it.
   */
  claimDebit(use: LimitUse): boolean;
  /**
   * Debits the observers for a call that is about to be sent.
   *
   * @returns a function to call with the outcome, see {@link Settle}.
   */
  debit(use: LinkedLimit): Settle;
  /**
   * Records that a held call is sent, so that its tokens are not there for the next call. Debits the
   * observers, too.
   */
  recordSend(use: LinkedLimit): Settle;
}

/**
 * Settles a call by its outcome: without an error it was charged. A denied call was not charged, and
 * a call without an answer most likely was not. Any other answer comes from a procedure that was
 * charged. After a failure the server is asked, since the server pushes nothing if it has not charged.
 * A second call does nothing.
 */
export type Settle = (error?: unknown) => void;

export function createKnownDenials(
  observers: ReadonlySet<RateLimitObserver>,
  clock: () => number,
  monotonic: () => number,
): KnownDenials {
  const denials = new Map<string, { snapshot: RateLimitSnapshot; serverNow(): number }>();

  function debit(use: LinkedLimit): Settle {
    const count = use.on === "error" ? 0 : (use.count ?? 1);
    const settles = Array.from(observers, (observer) => {
      const settle = observer.debit(use, count);
      if (count !== 0) observer.claimDebit(use);
      return settle;
    });
    let isSettled = false;
    return (error) => {
      if (isSettled) return;
      isSettled = true;
      // An error of tRPC's carries the server's answer as `data`.
      const { data } = Object(error) as { data?: unknown };
      for (const settle of settles) settle(!error || (data != null && !isRateLimitError(error)));
      if (error) for (const observer of observers) observer.refresh(use);
    };
  }

  return {
    learn(use, data) {
      const serverNow = serverTime(data.now, clock, monotonic);
      explainDenials(use, data, (snapshot) => {
        denials.set(idOf(snapshot), { snapshot, serverNow });
      });
      for (const observer of observers) observer.recordDenial(use, data, use.count);
    },
    find(use, isLearnt) {
      const { name, count = 1 } = use;
      const known = denials.get(idOf(use));
      let at = known?.serverNow() ?? 0;
      let checked = known && predict(known.snapshot, 0, at, count);
      if (isLearnt && checked?.retryAt === undefined) return undefined;
      for (const observer of observers) {
        const now = clock();
        const seen = observer.check(use, now, count);
        if (seen) [at, checked] = [now, seen];
      }
      return denialOf(name, checked, at, count);
    },
    // Every observer has to be asked, since each may hold a debit.
    claimDebit: (use) =>
      use.count !== 0 &&
      Array.from(observers, (observer) => observer.claimDebit(use)).includes(true),
    debit,
    recordSend(use) {
      const { count = 1 } = use;
      const settle = debit(use);
      const known = denials.get(idOf(use));
      if (known === undefined) return settle;
      const before = known.snapshot;
      const takeNow = () => take(before, known.serverNow(), count);
      const after = (known.snapshot = takeNow());
      return (error) => {
        settle(error);
        // A full bucket refills from the instant of the charge, and that may have been as late as
        // the answer.
        if (known.snapshot === after) known.snapshot = takeNow();
      };
    },
  };
}
