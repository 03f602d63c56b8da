/** Whether the page slept between two instants: frozen by the browser, or with the machine. */

/** ms between two beats. A page that sleeps has none. */
const BEAT = 1000;
/** A beat that is later than this, ms, was kept back by sleep, and not by work of the page. */
const LATE = 5000;

export function watchSleep() {
  let last = performance.now();
  let sleptAt = -Infinity;
  function beat(): void {
    const now = performance.now();
    if (now - last > LATE) sleptAt = now;
    last = now;
  }
  const timer = setInterval(beat, BEAT);
  return {
    /** @param since as `performance.now()` says it. */
    hasSlept(since: number): boolean {
      // After the sleep, an answer may come before the next beat.
      beat();
      return sleptAt >= since;
    },
    stop: () => clearInterval(timer),
  };
}
