/**
 * The database's clock, as far as this process knows it. Servers disagree about the time, and a
 * server that is an hour ahead would grant an hour of tokens. So limits go by the clock of the one
 * database that they share.
 *
 * The database's time is learned from statements that are sent anyway: now and then a statement returns
 * the time, too. That time was read between sending and receiving, which gives bounds, and further
 * readings narrow the bounds. Within the bounds, this machine's own clock is believed: clocks that NTP
 * keeps together agree better than a round trip can measure. Between two readings the monotonic clock
 * goes on, which does not jump when the time of this machine is set.
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

/** The bounds of the database's clock minus the monotonic clock, ms, at an instant of the latter. */
interface Bounds {
  low: number;
  high: number;
  at: number;
}

export class DatabaseClock {
  readonly #monotonic: Pick<Performance, "now">;
  #bounds: Bounds | undefined;
  /** The number that is added to the monotonic clock, ms. */
  #offset = 0;
  /** When the last reading began, by the monotonic clock. */
  #triedAt = -Infinity;
  /** This machine's clock minus the monotonic clock, at the last reading. */
  #machine: number;

  /** @param monotonic ms, since any instant. */
  constructor(monotonic: Pick<Performance, "now"> = performance) {
    this.#monotonic = monotonic;
    this.#machine = this.#difference();
  }

  /** The database's time, whole epoch ms. Before the first reading, `now` is this machine's time. */
  readonly now = (): number =>
    this.#bounds === undefined ? Date.now() : Math.floor(this.#monotonic.now() + this.#offset);

  get isKnown(): boolean {
    return this.#bounds !== undefined;
  }

  /** By how much `now` may be behind the database's clock, ms. */
  behind(): number {
    if (this.#bounds === undefined) return 0;
    const { high, at } = this.#bounds;
    return high + DRIFT * (this.#monotonic.now() - at) - this.#offset + RESOLUTION;
  }

  /** By how much `now` may be ahead of the database's clock, ms. */
  ahead(): number {
    if (this.#bounds === undefined) return 0;
    const { low, at } = this.#bounds;
    return this.#offset - low + DRIFT * (this.#monotonic.now() - at);
  }

  /**
   * Whether this machine may have slept since the last reading, or a clock of this machine was set.
   * `now` may then be wrong by any time, until the database's clock was read again. The monotonic clock
   * may stand still while the machine sleeps.
   */
  isInDoubt(): boolean {
    if (this.#bounds === undefined) return false;
    return Math.abs(Date.now() - this.#monotonic.now() - this.#machine) > JUMP;
  }

  /**
   * Begins a reading, if a reading is due. The statement then has to return the column of the clock.
   *
   * @returns `undefined` if no reading is due. Otherwise a function to call with the rows of the
   * answer.
   */
  due(): ((rows: readonly SqlRow[]) => void) | undefined {
    const isOld = this.#monotonic.now() - this.#triedAt >= REFRESH_AFTER;
    return isOld || this.#bounds === undefined || this.isInDoubt() ? this.#read() : undefined;
  }

  /**
   * A whole reading, if a reading is due, for a client that answers at once. @param read runs a
   * statement for the column alone
   */
  readAtOnce(read: () => readonly SqlRow[]): void {
    this.due()?.(read());
  }

  /**
   * Begins a reading, for answers that have the time in any case. Call `begin` before the statement is
   * sent. Call the returned function with the time in the answer, epoch ms.
   */
  begin(): (value: number) => void {
    const sentAt = this.#monotonic.now();
    const before = this.#difference();
    return (value) => {
      if (!Number.isFinite(value)) return;
      this.#machine = before;
      this.#learn(value, sentAt);
    };
  }

  #read(): (rows: readonly SqlRow[]) => void {
    const sentAt = this.#monotonic.now();
    this.#triedAt = sentAt;
    const before = this.#difference();
    return ([row]) => {
      // Keep the difference from before the statement: the machine may have slept since the time was
      // read.
      if (row !== undefined) this.#machine = before;
      // A take that finds no tokens returns no row. The next statement asks again.
      const value = row === undefined ? NaN : Number(row[CLOCK_COLUMN]);
      if (Number.isFinite(value)) this.#learn(value, sentAt);
      else this.#triedAt = -Infinity;
    };
  }

  #learn(value: number, sentAt: number): void {
    const receivedAt = this.#monotonic.now();
    const measured = { low: value - receivedAt - RESOLUTION, high: value - sentAt + RESOLUTION };
    const known = this.#bounds;
    const drift = known === undefined ? Infinity : DRIFT * (receivedAt - known.at);
    const low = Math.max(measured.low, (known?.low ?? 0) - drift);
    const high = Math.min(measured.high, (known?.high ?? 0) + drift);
    // Readings that exclude each other mean that the database's clock was set.
    const bounds = { ...(low <= high ? { low, high } : measured), at: receivedAt };
    this.#bounds = bounds;
    this.#offset = Math.min(Math.max(Date.now() - receivedAt, bounds.low), bounds.high);
  }

  /** This machine's clock minus the monotonic clock. */
  #difference(): number {
    return Date.now() - this.#monotonic.now();
  }
}
