/**
 * The database's clock, as far as this process knows it. Servers disagree about the time, and a
 * server that is an hour ahead would grant an hour of tokens. So limits go by the clock of the one
 * database that they share.
 *
 * It is learned from statements that are sent anyway: now and then one of them returns the time,
 * too. The reading was taken between sending and receiving, so half of the round trip bounds its
 * error, and the shortest round trip wins. Between two readings the monotonic clock goes on, which
 * does not jump when the time of this machine is set.
 */
import type { SqlRow } from "./driver.js";

/** The column in which a statement returns the database's time, epoch ms. */
export const CLOCK_COLUMN = "clock";
/** How old a reading may get before another one is taken, ms. */
const REFRESH_AFTER = 5000;
/** How far two clocks may come apart per ms; the fastest correction that NTP makes. */
const DRIFT = 0.0005;

export interface DatabaseClock {
  /** The database's time, whole epoch ms. This machine's, before the first reading. */
  now(): number;
  readonly isKnown: boolean;
  /**
   * Runs a statement that reads the clock, if it is time to do so.
   *
   * @param run sends the statement, with or without the column of the clock.
   */
  query(run: (withClock: boolean) => Promise<SqlRow[]>): Promise<SqlRow[]>;
}

interface Reading {
  /** The database's clock minus the monotonic clock, ms. */
  offset: number;
  /** The bound of its error when it was taken, ms. */
  error: number;
  /** When it was taken, by the monotonic clock. */
  at: number;
}

/** @param monotonic ms, since any instant. */
export function createDatabaseClock(
  monotonic: () => number = () => performance.now(),
): DatabaseClock {
  let best: Reading | undefined;
  let triedAt = -Infinity;
  /** This machine's clock minus the monotonic clock. It changes when the machine has slept. */
  let machine = Date.now() - monotonic();

  function learn(value: number, sentAt: number, receivedAt: number): void {
    const error = (receivedAt - sentAt) / 2;
    const reading = { offset: value - (sentAt + receivedAt) / 2, error, at: receivedAt };
    if (best === undefined) {
      best = reading;
      return;
    }
    const bound = best.error + DRIFT * (receivedAt - best.at);
    const hasMoved = Math.abs(reading.offset - best.offset) > error + bound;
    if (hasMoved || error <= bound) best = reading;
  }

  /** The monotonic clock may have stood still while the machine slept. */
  function hasSlept(now: number): boolean {
    const before = machine;
    machine = Date.now() - now;
    return Math.abs(machine - before) > 1000;
  }

  return {
    now: () => Math.floor(best === undefined ? Date.now() : monotonic() + best.offset),
    get isKnown() {
      return best !== undefined;
    },
    async query(run) {
      const sentAt = monotonic();
      if (!hasSlept(sentAt) && best !== undefined && sentAt - triedAt < REFRESH_AFTER) {
        return run(false);
      }
      triedAt = sentAt;
      const rows = await run(true);
      // A take that finds no tokens returns no row. The next statement asks again.
      const value = rows.length > 0 ? Number(rows[0]![CLOCK_COLUMN]) : NaN;
      if (Number.isFinite(value)) learn(value, sentAt, monotonic());
      else triedAt = -Infinity;
      return rows;
    },
  };
}
