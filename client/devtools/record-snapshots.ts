/**
 * Sees each snapshot that an observer takes, however the snapshot came, and what the observer had
 * predicted. Can keep a snapshot away from an observer, too. Works by methods of its own in `Entry`.
 * Rejected: listeners in the observer, which every page would load. Where a bundler has two copies of
 * `Entry`, nothing is seen.
 */
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { Entry } from "../limit-entry.js";
import { notify } from "../notify-watchers.js";
import type { RateLimitItem, RateLimitObserver } from "../types.js";

export interface SnapshotListener {
  /**
   * @param item the observer's own object, not a copy.
   * @param before what the page believed, with its debits.
   * @param after the same with the new snapshot.
   */
  onSnapshot(item: RateLimitItem, before: RateLimitSnapshot, after: RateLimitSnapshot): void;
  /** Whether the observer of this item must not hear from the server. */
  isDeaf(item: RateLimitItem): boolean;
}

const listeners = new Set<SnapshotListener>();
/** The entries, by the observer's own item object. */
const entries = new WeakMap<RateLimitItem, Entry>();
let isPatched = false;

export function recordSnapshots(listener: SnapshotListener): void {
  listeners.add(listener);
  if (isPatched) return;
  isPatched = true;
  // oxlint-disable-next-line typescript/unbound-method -- they are called with `this` below
  const { setServerSnapshot, snapshot } = Entry.prototype;
  Entry.prototype.setServerSnapshot = function (this: Entry, ...args) {
    if ([...listeners].some(({ isDeaf }) => isDeaf(this.item))) return false;
    const before = this.snapshot();
    const result = setServerSnapshot.apply(this, args);
    const after = this.snapshot();
    if (before && after) {
      for (const { onSnapshot } of listeners) onSnapshot(this.item, before, after);
    }
    return result;
  };
  Entry.prototype.snapshot = function (this: Entry) {
    entries.set(this.item, this);
    return snapshot.call(this);
  };
}

/** Has the components that follow any limit of an observer look at it again. */
export function notifyAll(observer: RateLimitObserver): void {
  const { limits, now } = observer.inspect();
  for (const { item } of limits) {
    // `check` reads the entry, so that `entries` has it.
    observer.check(item, now, 0);
    notify([...(entries.get(item)?.watchers ?? [])]);
  }
}
