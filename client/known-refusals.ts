/**
 * What a link knows about calls before they are sent: what the observers of its client mirror, and
 * for limits that none of them follows, what the last refusal said.
 */
import type { RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { idOf } from "./limit-entry.js";
import type { RateLimitObserver } from "./observer-types.js";
import { predict, take } from "./prediction.js";
import { refusalOf, snapshotOfRefusal } from "./refusal.js";
import type { RateLimitItem } from "./transport.js";

/** What a call takes. */
export interface LimitUse extends RateLimitItem {
  /** Tokens. @default 1 */
  count?: number | undefined;
}

export interface KnownRefusals {
  /** A call was refused. */
  learn(use: LimitUse, data: RateLimitErrorData): void;
  /**
   * What the server would say to a call now; `undefined` where it is not known to refuse it, or
   * would refuse it for ever, which is for the server to explain.
   *
   * @param learnt whether only an earlier refusal connects the call with the limit: then that one
   * has to hold still. Such a call may reserve, and be granted where others are not.
   */
  find(use: LimitUse, learnt: boolean): RateLimitErrorData | undefined;
  /** Whether whoever makes the call has debited the observers, so having decided that it may go. */
  isDebited(use: LimitUse): boolean;
  /**
   * A call that had to wait is sent: what it takes is not there for the next one.
   *
   * @returns to be called when it is answered: a full bucket refills from when the server took
   * from it, and that may have been as late as now.
   */
  took(use: LimitUse): () => void;
}

/** By how much clocks come apart that nobody has set, ms at most; by more, and the machine slept. */
const SLEPT = 5000;

export function createKnownRefusals(
  observers: ReadonlySet<RateLimitObserver>,
  clock: () => number,
  monotonic: () => number,
): KnownRefusals {
  /** By limit and key, with what time the server has. */
  const refused = new Map<string, { snapshot: RateLimitSnapshot; serverNow(): number }>();

  return {
    learn(use, data) {
      const { count = 1 } = use;
      const snapshot = snapshotOfRefusal(use, data, count);
      const [ahead, apart] = [data.now - monotonic(), data.now - clock()];
      const serverNow = () => {
        const steady = monotonic() + ahead;
        const now = clock() + apart;
        // A clock that was set, too, costs no more than a call that is refused.
        return now > steady + SLEPT ? now : steady;
      };
      refused.set(idOf(use), { snapshot, serverNow });
      for (const observer of observers) observer.refused(use, data, count);
    },
    find(use, learnt) {
      const { name, count = 1 } = use;
      const known = refused.get(idOf(use));
      let at = known?.serverNow() ?? 0;
      let checked = known && predict(known.snapshot, 0, at, count);
      if (learnt && checked?.retryAt === undefined) return undefined;
      for (const observer of observers) {
        const now = clock();
        const seen = observer.check(use, now, count);
        if (seen) [at, checked] = [now, seen];
      }
      return refusalOf(name, checked, at, count);
    },
    isDebited: (use) => Array.from(observers, (observer) => observer.send(use)).includes(true),
    took(use) {
      const { count = 1 } = use;
      const known = refused.get(idOf(use));
      const settles = Array.from(observers, (observer) => {
        const settle = observer.debit(use, count);
        observer.send(use);
        return settle;
      });
      const settle = () => settles.forEach((each) => each(true));
      if (known === undefined) return settle;
      const before = known.snapshot;
      const takeNow = () => take(before, known.serverNow(), count);
      const after = (known.snapshot = takeNow());
      return () => {
        settle();
        if (known.snapshot === after) known.snapshot = takeNow();
      };
    },
  };
}
