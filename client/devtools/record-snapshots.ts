/**
 * Sees each snapshot that an observer takes, and what the observer had predicted, however the snapshot
 * came. It does so by a method of its own in `Entry`. Rejected: listeners in the observer,
 * which every page would load. Where a bundler has two copies of `Entry`, nothing is seen.
 */
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { Entry } from "../limit-entry.js";
import type { RateLimitItem } from "../types.js";

/**
 * @param item the very object of the observer.
 * @param before what the page believed, with its debits.
 * @param after the same with the new snapshot; `snapshot` is the server's own.
 */
export type OnSnapshot = (
  item: RateLimitItem,
  before: RateLimitSnapshot,
  after: RateLimitSnapshot,
) => void;

const listeners = new Set<OnSnapshot>();
let isPatched = false;

export function recordSnapshots(onSnapshot: OnSnapshot): void {
  listeners.add(onSnapshot);
  if (isPatched) return;
  isPatched = true;
  // oxlint-disable-next-line typescript/unbound-method -- it is called with `this` below
  const { setServerSnapshot } = Entry.prototype;
  Entry.prototype.setServerSnapshot = function (this: Entry, ...args) {
    const before = this.snapshot();
    const result = setServerSnapshot.apply(this, args);
    const after = this.snapshot();
    if (before && after) for (const listener of listeners) listener(this.item, before, after);
    return result;
  };
}
