/**
 * Sees what an observer is asked, by functions of its own in the place of the observer's. Measured and
 * rejected: listeners in the observer, which every page would load.
 */
import type { RateLimitObserver } from "../types.js";
import type { Calls } from "./calls.js";

const recorded = new WeakSet<RateLimitObserver>();

export function recordObserver(observer: RateLimitObserver, calls: Calls): void {
  if (recorded.has(observer)) return;
  recorded.add(observer);
  const { check, debit, claimDebit, recordDenial } = observer;

  observer.check = (item, at, count) => {
    const checked = check(item, at, count);
    if (checked) calls.asked(item, count, checked.retryAt !== undefined);
    return checked;
  };
  observer.debit = (item, count) => {
    const settle = debit(item, count);
    if (count === 0) return settle;
    const seen = calls.debited(item, count);
    let isSettled = false;
    return (isCharged) => {
      settle(isCharged);
      if (!isSettled) calls.settled(seen, isCharged === true);
      isSettled = true;
    };
  };
  observer.claimDebit = (item) => {
    const isClaimed = claimDebit(item);
    if (isClaimed) calls.claimed(item);
    return isClaimed;
  };
  observer.recordDenial = (item, data, count) => {
    calls.denied({ ...item, count: count ?? 1 }, data);
    recordDenial(item, data, count);
  };
}
