/**
 * Where the batches of a store are, and how many there may be at each place.
 *
 * | a batch is  | it comes from       | when                                                    | at most      | its rows  |
 * | ----------- | ------------------- | ------------------------------------------------------- | ------------ | --------- |
 * | `queued`    | the queue           | its calls are put together                              |              | free      |
 * | `in flight` | queued              | it is dispatched                                        | maxInFlight  | busy      |
 * | `aside`     | in flight           | it locks rows, and was dispatched 50 ms ago             | `MAX_ASIDE`  | awaited   |
 * |             | queued              | its calls could not lock their rows before              | the same - 1 | awaited   |
 * | `stalled`   | in flight, aside    | it has no answer after 5 s; a take of one row, 100 ms   | `MAX_STALLED`| free      |
 * | `given up`  | stalled, the oldest | another batch stalls, and no batch was answered for 10 s, doubling | `MAX_GIVEN_UP` | free |
 * | `answered`  | any of these        | its outcome is known                                    |              | free      |
 *
 * Each batch keeps a connection until it is answered, so these bounds are the most connections that a
 * store keeps. While a place is full, batches stay where they are. The calls of an answered batch that
 * are decided again go back to the queue.
 */
import type { Batch } from "./batch.js";

/**
 * A batch in flight for longer than this, ms, has stalled: other batches are dispatched as if it were
 * not in flight. The connection of the batch may have gone silent.
 */
const STALLED_AFTER = 5000;
/** The same time for a take of one row, ms. Such a take may wait for a transaction that holds the row. */
export const WAITING_AFTER = 100;
/**
 * A batch that locks its rows is set aside after this time, ms: another transaction holds one of these
 * rows. The rows of the batch stay busy, and batches on other rows are dispatched meanwhile.
 */
export const ASIDE_AFTER = 50;
/**
 * The last of these places is for a batch that has just begun to wait, and not for calls that have
 * waited before.
 */
const MAX_ASIDE = 3;
const MAX_STALLED = 2;
/**
 * If no batch was answered for this time, ms, the oldest stalled batch is given up, and another batch
 * is dispatched in its place, perhaps on a connection that works. The time doubles with each batch that
 * is given up.
 */
const SILENT_AFTER = 10_000;
const MAX_GIVEN_UP = 2;

export interface FlightRules {
  /** The most batches in flight at once. */
  readonly maxInFlight: number;
  /**
   * Whether every batch that writes is a Serializable transaction. No batch is set aside then: such a
   * transaction does not wait for rows, and conflicts with transactions beside it.
   */
  readonly serializable: boolean;
}

export class Flights {
  /**
   * A take of one row, in flight while no other batch is anywhere. The take is put into the sets only
   * when the sets are looked at. A set builds a new table every few entries, and a table that is
   * garbage in the old generation keeps all later tables alive. Measured: 0.5 of 6 µs per lone call.
   */
  #lone: Batch | undefined;
  /** In the order in which the batches were dispatched, as in the other sets. */
  readonly #inFlight = new Set<Batch>();
  readonly #aside = new Set<Batch>();
  readonly #stalled = new Set<Batch>();
  readonly #givenUp = new Set<Batch>();
  readonly #busy = new Set<string>();
  /** The busy rows for which a batch was set aside. */
  readonly awaited = new Set<string>();
  /** When a batch was last answered or given up, by the monotonic clock. */
  #changedAt = -Infinity;

  constructor(private readonly rules: FlightRules) {}

  /** Whether no batch keeps rows or a place in flight. */
  get isIdle(): boolean {
    return this.#lone === undefined && this.#inFlight.size === 0 && this.#aside.size === 0;
  }

  /** Rows of batches in flight or aside, as `rowKey`s. Calls on these rows wait. */
  get busy(): ReadonlySet<string> {
    this.#enterLone();
    return this.#busy;
  }

  /** Whether another batch may be dispatched. */
  get hasRoom(): boolean {
    this.#enterLone();
    return this.#inFlight.size < this.rules.maxInFlight;
  }

  /** Whether another batch may begin to wait for locked rows. */
  get mayWait(): boolean {
    return !this.rules.serializable && this.#aside.size < MAX_ASIDE - 1;
  }

  get isReading(): boolean {
    return this.#isInFlight("read");
  }

  get isLocking(): boolean {
    return this.#isInFlight("lock");
  }

  /**
   * The batch is dispatched.
   *
   * @param now by the monotonic clock, as everywhere here.
   * @returns whether the batch has to be quick, because its place is needed. While another batch waits
   * for held rows, a take waits for its own rows for a bounded time only.
   */
  start(batch: Batch, now: number): boolean {
    const { name } = batch.way;
    batch.startedAt = now;
    batch.place = "in flight";
    if (this.isIdle && this.#stalled.size === 0 && this.#givenUp.size === 0) {
      this.#changedAt = now;
      if (name === "take" && batch.ids.length === 1) {
        this.#lone = batch;
        return false;
      }
    }
    this.#enterLone();
    this.#enter(batch);
    if (batch.waits) this.#setAside(batch);
    if (name === "take") return this.#stalled.size > 0 || this.#aside.size > 0;
    return !batch.waits && !this.#hasPlaceAside;
  }

  /** Whether a batch that locks its rows may be set aside later. */
  mayGoAside(batch: Batch): boolean {
    return batch.way.name === "lock" && batch.place === "in flight" && this.#hasPlaceAside;
  }

  /**
   * Leaves batches behind that have had no answer for too long, so that other batches can be
   * dispatched.
   */
  look(now: number): void {
    this.#enterLone();
    for (const batch of this.#inFlight) {
      if (now - batch.startedAt < ASIDE_AFTER) continue;
      if (this.mayGoAside(batch)) this.#setAside(batch);
    }
    for (const waiting of [this.#inFlight, this.#aside]) {
      for (const batch of waiting) {
        if (now - batch.startedAt < patience(batch)) continue;
        if (this.#stalled.size === MAX_STALLED && !this.#giveUpOldest(now)) return;
        waiting.delete(batch);
        batch.place = "stalled";
        this.#stalled.add(batch);
        this.#free(batch);
      }
    }
  }

  /**
   * The batch is answered. If the batch had stalled and has written after all, its writes were guarded.
   */
  end(batch: Batch, now: number): void {
    this.#changedAt = now;
    if (this.#lone === batch) this.#lone = undefined;
    else if (this.#inFlight.delete(batch) || this.#aside.delete(batch)) this.#free(batch);
    else if (!this.#stalled.delete(batch)) this.#givenUp.delete(batch);
    batch.place = "answered";
  }

  /** Whether the database may be silent: a batch has had no answer for a while. */
  hasWaited(now: number): boolean {
    this.#enterLone();
    if (this.#aside.size > 0 || this.#stalled.size > 0 || this.#givenUp.size > 0) return true;
    const [oldest] = this.#inFlight;
    return oldest !== undefined && now - oldest.startedAt >= WAITING_AFTER / 2;
  }

  get #hasPlaceAside(): boolean {
    return !this.rules.serializable && this.#aside.size < MAX_ASIDE;
  }

  #enterLone(): void {
    if (this.#lone === undefined) return;
    this.#enter(this.#lone);
    this.#lone = undefined;
  }

  #enter(batch: Batch): void {
    this.#inFlight.add(batch);
    if (batch.way.name !== "read") for (const id of batch.ids) this.#busy.add(id);
  }

  #isInFlight(name: string): boolean {
    this.#enterLone();
    for (const { way } of this.#inFlight) if (way.name === name) return true;
    return false;
  }

  #setAside(batch: Batch): void {
    this.#inFlight.delete(batch);
    batch.place = "aside";
    this.#aside.add(batch);
    for (const id of batch.ids) this.awaited.add(id);
  }

  /** Makes room for another stalled batch, if no batch was answered for long. */
  #giveUpOldest(now: number): boolean {
    const isSilent = now - this.#changedAt >= SILENT_AFTER * 2 ** this.#givenUp.size;
    if (!isSilent || this.#givenUp.size === MAX_GIVEN_UP) return false;
    const [oldest] = this.#stalled as ReadonlySet<Batch> & Iterable<Batch>;
    this.#stalled.delete(oldest!);
    oldest!.place = "given up";
    this.#givenUp.add(oldest!);
    this.#changedAt = now;
    return true;
  }

  #free({ ids, way }: Batch): void {
    if (way.name !== "read") for (const id of ids) this.#busy.delete(id);
    if (this.awaited.size > 0) for (const id of ids) this.awaited.delete(id);
  }
}

function patience({ way, ids }: Batch): number {
  return way.name === "take" && ids.length === 1 ? WAITING_AFTER : STALLED_AFTER;
}
