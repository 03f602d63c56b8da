/**
 * The database's clock, as far as this process knows it. Servers disagree about the time, and a
 * server that is an hour ahead would grant an hour of tokens. So limits go by the clock of the one
 * database that they share.
 *
 * It is learned from statements that are sent anyway: now and then one of them returns the time,
 * too. The time was read between sending and receiving, which gives bounds, and further readings
 * narrow them. Within the bounds this machine's own clock is believed: clocks that NTP keeps
 * together agree better than a round trip can measure. Between two readings the monotonic clock goes
 * on, which does not jump when the time of this machine is set.
 */
import type { SqlRow } from "../driver.js";

/** The column in which a statement returns the database's time, epoch ms. */
export const CLOCK_COLUMN = "clock";
/** How old a reading may get before another one is taken, ms. */
const REFRESH_AFTER = 5000;
/** How exactly databases tell the time, ms. */
const RESOLUTION = 1;
/** How far two clocks may come apart per ms; the fastest correction that NTP makes. */
const DRIFT = 0.0005;

/** By how much this machine's two clocks may come apart between two readings, ms. */
const JUMP = 1000;

export interface DatabaseClock {
  /** The database's time, whole epoch ms. This machine's, before the first reading. */
  now(): number;
  readonly isKnown: boolean;
  /** By how much `now` may be behind the database's clock, ms. */
  behind(): number;
  /** By how much `now` may be ahead of the database's clock, ms. */
  ahead(): number;
  /**
   * Whether this machine may have slept since the last reading, or a clock of it was set. `now` may
   * then be wrong by any time, until the clock was read.
   */
  isInDoubt(): boolean;
  /**
   * Runs a statement that reads the clock, if it is time to do so.
   *
   * @param run sends the statement, with or without the column of the clock.
   */
  query(run: (withClock: boolean) => Promise<SqlRow[]>): Promise<SqlRow[]>;
  /**
   * Begins a reading, for answers that have the time in any case. Call it before the statement is
   * sent, and what it returns with the time in the answer, epoch ms.
   */
  begin(): (value: number) => void;
}

/** The bounds of the database's clock minus the monotonic clock, ms, at an instant of the latter. */
interface Bounds {
  low: number;
  high: number;
  at: number;
}

/** @param monotonic ms, since any instant. */
export function createDatabaseClock(
  monotonic: () => number = () => performance.now(),
): DatabaseClock {
  let bounds: Bounds | undefined;
  let offset = 0;
  let triedAt = -Infinity;
  const difference = () => Date.now() - monotonic();
  /** This machine's clock minus the monotonic clock, at the last reading. */
  let machine = difference();

  function learn(value: number, sentAt: number, receivedAt: number): void {
    const measured = { low: value - receivedAt - RESOLUTION, high: value - sentAt + RESOLUTION };
    const drift = bounds === undefined ? Infinity : DRIFT * (receivedAt - bounds.at);
    const low = Math.max(measured.low, (bounds?.low ?? 0) - drift);
    const high = Math.min(measured.high, (bounds?.high ?? 0) + drift);
    // Readings that exclude each other mean that the database's clock was set.
    bounds = { ...(low <= high ? { low, high } : measured), at: receivedAt };
    offset = Math.min(Math.max(Date.now() - receivedAt, bounds.low), bounds.high);
  }

  /** The monotonic clock may stand still while the machine sleeps. */
  const isInDoubt = () =>
    bounds !== undefined && Math.abs(Date.now() - monotonic() - machine) > JUMP;

  async function read(
    run: (withClock: boolean) => Promise<SqlRow[]>,
    sentAt: number,
  ): Promise<SqlRow[]> {
    triedAt = sentAt;
    const before = difference();
    const rows = await run(true);
    // As it was before: the machine may have slept since the time was read.
    if (rows.length > 0) machine = before;
    // A take that finds no tokens returns no row. The next statement asks again.
    const value = rows.length > 0 ? Number(rows[0]![CLOCK_COLUMN]) : NaN;
    if (Number.isFinite(value)) learn(value, sentAt, monotonic());
    else triedAt = -Infinity;
    return rows;
  }

  return {
    now: () => (bounds === undefined ? Date.now() : Math.floor(monotonic() + offset)),
    get isKnown() {
      return bounds !== undefined;
    },
    behind() {
      if (bounds === undefined) return 0;
      const drift = DRIFT * (monotonic() - bounds.at);
      return bounds.high + drift - offset + RESOLUTION;
    },
    ahead() {
      if (bounds === undefined) return 0;
      return offset - bounds.low + DRIFT * (monotonic() - bounds.at);
    },
    isInDoubt,
    begin() {
      const sentAt = monotonic();
      const before = difference();
      return (value) => {
        if (!Number.isFinite(value)) return;
        machine = before;
        learn(value, sentAt, monotonic());
      };
    },
    query(run) {
      const sentAt = monotonic();
      const isOld = isInDoubt() || sentAt - triedAt >= REFRESH_AFTER;
      return isOld || bounds === undefined ? read(run, sentAt) : run(false);
    },
  };
}
