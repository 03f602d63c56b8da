/**
 * Notifies the watchers of a limit when its answer changes: at once when the server reports a
 * change, and by one timer for the whole page when time brings the change.
 */
import { SLEPT_TIMER, type Time } from "./clocks.js";
import type { Entry, Watcher } from "./limit-entry.js";

/**
 * How long the timer sleeps at most, ms. A timer may be late because the machine slept or its clock
 * was set, and people must not wait for that. Nothing renders when the timer finds no change.
 */
const HEARTBEAT = 1000;

/**
 * Recomputes some of the entries, notifies the watchers whose answer changed, and sets the timer.
 *
 * @param isTimer whether only time has passed: then refills are shown once a second at most.
 */
export type Update = (some: Iterable<Entry>, isTimer?: boolean) => void;

/**
 * @param read the time, for a limit or for this machine alone.
 * @param onSlept called when the machine has slept, so that other callers' use is unknown.
 */
export function createNotifier(
  entries: ReadonlyMap<string, Entry>,
  read: (entry?: Entry) => Time,
  onSlept: () => void,
): Update {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function update(some: Iterable<Entry>, isTimer: boolean = false): void {
    // Read the clock for each entry: a watcher that was just notified may have corrected it.
    for (const entry of some) notify(entry.recompute(read(entry), isTimer));
    setTimer();
  }

  /** Sets the timer to the first instant at which something that is shown changes. */
  function setTimer(): void {
    clearTimeout(timer);
    let nextChangeAt = Infinity;
    for (const entry of entries.values()) nextChangeAt = Math.min(nextChangeAt, entry.nextChangeAt);
    if (nextChangeAt === Infinity) return;
    const since = read().now;
    const tick = () => {
      const { now } = read();
      if (now - since > SLEPT_TIMER) onSlept();
      if (now < nextChangeAt) setTimer();
      else update(entries.values(), true);
    };
    timer = setTimeout(tick, Math.min(Math.max(0, nextChangeAt - since), HEARTBEAT));
  }

  return update;
}

/** @param watchers a copy: the notified watchers may add and remove others. */
export function notify(watchers: readonly Watcher[]): void {
  for (const { onChange } of watchers) {
    try {
      onChange();
    } catch (error) {
      // Rethrow later, so that the other watchers are notified all the same.
      setTimeout(() => {
        throw error;
      });
    }
  }
}
