/**
 * Sees the questions to an observer, by functions of its own in place of the observer's. Rejected:
 * listeners in the observer, which every page would load. Only hooks know of the calls that they keep
 * from being sent, so they call `onKept`, which costs 20 B.
 */
import type { ConnectionState, RateLimitObserver } from "../types.js";
import type { Calls } from "./calls.js";
import type { Outcomes } from "./outcomes.js";

const recorded = new WeakSet<RateLimitObserver>();

export function recordObserver(
  observer: RateLimitObserver,
  calls: Calls,
  outcomes: Outcomes,
  isOffline: () => boolean,
): void {
  if (recorded.has(observer)) return;
  recorded.add(observer);
  const connection = Object.getOwnPropertyDescriptor(observer, "connection")!;
  Object.defineProperty(observer, "connection", {
    configurable: true,
    enumerable: true,
    get: () =>
      (isOffline() ? "offline" : (connection.get?.() ?? connection.value)) as ConnectionState,
  });
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
      if (isSettled) return;
      isSettled = true;
      calls.settled(seen);
      // Otherwise the call of the debit tells the outcome.
      if (!seen.call) outcomes.settled(seen, isCharged === true);
    };
  };
  observer.claimDebit = (item) => {
    const isClaimed = claimDebit(item);
    if (isClaimed) calls.claimed(item);
    return isClaimed;
  };
  observer.onKept = (item, kept, about) => {
    if (typeof kept === "number") return outcomes.held(item, kept, about);
    const use = { ...item, count: Number(about) };
    outcomes.denied({ use, data: kept, call: undefined, isSent: false });
  };
  observer.recordDenial = (item, data, count) => {
    const call = calls.current;
    const use = { ...item, count: count ?? 1 };
    outcomes.denied({ use, data, call, isSent: call?.isSent ?? true });
    recordDenial(item, data, count);
  };
}
