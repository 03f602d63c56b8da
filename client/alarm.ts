/** One timer that goes off at an instant of this machine's clock, wherever that clock goes. */
import type { Time } from "./local-clock.js";

export interface Alarm {
  /** Goes off at `due`, epoch ms, and no longer at another instant; `Infinity` is never. */
  set(due: number, since: Time): void;
}

/**
 * How long the timer sleeps at most, ms. One that is late, because the machine slept or its clock
 * was set, must not leave people waiting; nothing renders when it finds nothing new.
 */
const HEARTBEAT = 1000;
/** Pages in the background are woken once a minute; a timer later than this was asleep, ms. */
const SLEPT = 90_000;

export function createAlarm(look: () => Time, onDue: () => void, onSlept: () => void): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function set(due: number, since: Time): void {
    clearTimeout(timer);
    if (due === Infinity) return;
    const pause = Math.min(Math.max(0, due - since.now), HEARTBEAT);
    timer = setTimeout(() => {
      const time = look();
      // Nobody knows what others did meanwhile, nor whether the stream has noticed.
      if (time.monotonic - since.monotonic > SLEPT) onSlept();
      if (time.now < due) set(due, time);
      else onDue();
    }, pause);
  }

  return { set };
}
