/**
 * The denials that a link can predict before it sends a call. They come from the observers of its
 * client. For a limit that no observer follows, they come from the last denial.
 */
import type { RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { serverTime } from "./clocks.js";
import { denialOf, snapshotOfDenial } from "./denial.js";
import { idOf } from "./limit-entry.js";
import { predict, take } from "./prediction.js";
import type { LimitUse, RateLimitObserver } from "./types.js";

export interface KnownDenials {
  /** Records that a call was denied. */
  learn(use: LimitUse, data: RateLimitErrorData): void;
  /**
   * The denial that a call would get now. `undefined` where no denial is known. Also
   * `undefined` where the call could never pass: the server explains that better.
   *
   * @param isLearnt whether only an earlier denial connects the call with the limit. Then that
   * denial alone decides: such a call may reserve, and be granted where others are not.
   */
  find(use: LimitUse, isLearnt: boolean): RateLimitErrorData | undefined;
  /** Claims a debit of the caller's. With one, the caller has already decided to send the call. */
  claimDebit(use: LimitUse): boolean;
  /**
   * Records that a held call is sent: its tokens are not there for the next call.
   *
   * @returns a function to call on the answer. A full bucket refills from the instant of the
   * charge, and the charge may have been as late as the answer. After a failure, only the server
   * knows whether it charged the call, and it pushes nothing if not.
   */
  recordSend(use: LimitUse): (hasFailed?: boolean) => void;
}

export function createKnownDenials(
  observers: ReadonlySet<RateLimitObserver>,
  clock: () => number,
  monotonic: () => number,
): KnownDenials {
  const denials = new Map<string, { snapshot: RateLimitSnapshot; serverNow(): number }>();

  return {
    learn(use, data) {
      const { count = 1 } = use;
      const snapshot = snapshotOfDenial(use, data, count);
      denials.set(idOf(use), { snapshot, serverNow: serverTime(data.now, clock, monotonic) });
      for (const observer of observers) observer.recordDenial(use, data, count);
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
      Array.from(observers, (observer) => observer.claimDebit(use)).includes(true),
    recordSend(use) {
      const { count = 1 } = use;
      const known = denials.get(idOf(use));
      const settles = Array.from(observers, (observer) => {
        const settle = observer.debit(use, count);
        observer.claimDebit(use);
        return settle;
      });
      const settle = (hasFailed?: boolean) => {
        for (const each of settles) each(true);
        if (hasFailed) for (const observer of observers) observer.refresh(use);
      };
      if (known === undefined) return settle;
      const before = known.snapshot;
      const takeNow = () => take(before, known.serverNow(), count);
      const after = (known.snapshot = takeNow());
      return (hasFailed) => {
        settle(hasFailed);
        if (known.snapshot === after) known.snapshot = takeNow();
      };
    },
  };
}
