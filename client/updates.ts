/**
 * Tells those who look at a limit when its answer changes: at once when there is news, and when
 * time brings it, by one timer for the whole page.
 */
import { type Entry, lookAnew, type Watcher } from "./limit-entry.js";
import type { Time } from "./server-clock.js";

/**
 * How long the timer sleeps at most, ms. One that is late, because the machine slept or its clock
 * was set, must not leave people waiting; nothing renders when it finds nothing new.
 */
const HEARTBEAT = 1000;
/** Pages in the background are woken once a minute; a timer later than this was asleep, ms. */
const SLEPT = 90_000;

/**
 * Looks anew at some of the entries, tells those whose answer changed, and sets the timer.
 *
 * @param paced whether time has only passed: then refills keep to their pace.
 */
export type Update = (some: Iterable<Entry>, paced?: boolean) => void;

/** @param onSlept the machine has slept, so that nobody knows what others did meanwhile. */
export function createUpdates(
  entries: ReadonlyMap<string, Entry>,
  look: () => Time,
  onSlept: () => void,
): Update {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function update(some: Iterable<Entry>, paced: boolean = false): void {
    // Each at its own time: who is told may have brought news of the clock.
    for (const entry of some) tell(lookAnew(entry, look(), paced));
    arm();
  }

  /** At the first instant at which something that is shown changes. */
  function arm(): void {
    clearTimeout(timer);
    let due = Infinity;
    for (const entry of entries.values()) due = Math.min(due, entry.due);
    if (due === Infinity) return;
    const since = look().now;
    const tick = () => {
      const { now } = look();
      if (now - since > SLEPT) onSlept();
      if (now < due) arm();
      else update(entries.values(), true);
    };
    timer = setTimeout(tick, Math.min(Math.max(0, due - since), HEARTBEAT));
  }

  return update;
}

/** @param watchers not the live set: who is told may come and go. */
export function tell(watchers: readonly Watcher[]): void {
  for (const { onChange } of watchers) {
    try {
      onChange();
    } catch (error) {
      // The others hear of it all the same.
      setTimeout(() => {
        throw error;
      });
    }
  }
}
