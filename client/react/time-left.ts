/** How far two clocks may differ that nobody has set, ms: the one only counts whole ones. */
const SLACK = 10;

/** @returns what tells how long it still is, ms, from now until an instant on this machine's clock. */
export function timeLeft(until: number): () => number {
  /** When, on a clock that nobody sets, the wait is over for sure. */
  const end = steady() + until - Date.now() + SLACK;
  // The earlier of both: that clock stands still while a machine sleeps, and the other one may be
  // put back, which makes nobody's wait longer.
  return () => Math.min(until - Date.now(), end - steady());
}

function steady(): number {
  return Math.floor(performance.now());
}
