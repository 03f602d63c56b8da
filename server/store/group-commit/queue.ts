/** The calls that wait for a batch, those that may write and those that only read. */
import { rowKey } from "../store.js";
import type { Batch, Job } from "./batch.js";
import type { Flights } from "./flights.js";
import { isWaiting, nextReaders, nextWriters } from "./next-batch.js";
import type { Ways } from "./ways/ways.js";

/** With more waiting calls than this, the queue is searched for expired ones. */
const MANY_WAITING = 1000;

export class Queue {
  #writers: Job[] = [];
  /** Calls that only read, and so wait for no row. */
  #readers: Job[] = [];
  #readLast = false;
  #purgeAt = MANY_WAITING;

  constructor(
    private readonly ways: Ways,
    private readonly flights: Flights,
  ) {}

  /** The number of waiting calls that may write. */
  get writers(): number {
    return this.#writers.length;
  }

  /** The number of all waiting calls. */
  get size(): number {
    return this.#writers.length + this.#readers.length;
  }

  /** @returns false if the call has to wait for the end of a batch that is in flight. */
  add(job: Job): boolean {
    const { rows, readOnly = false } = job.decision;
    (readOnly ? this.#readers : this.#writers).push(job);
    if (this.size > this.#purgeAt) this.#purge();
    // Searching the whole queue for each new call would take longer than deciding the calls.
    const { busy } = this.flights;
    return readOnly || busy.size === 0 || !busy.has(rowKey(rows[0]!));
  }

  /** The next batch, or `undefined` if no call can go out now. */
  next(): Batch | undefined {
    const { flights, ways } = this;
    if (this.#writers.length === 1 && this.#readers.length === 0 && flights.busy.size === 0) {
      return this.#only();
    }
    // Alternate between one batch of readers and one of writers, so that neither waits for long.
    const canRead = this.#readers.length > 0 && !flights.isReading;
    const readFirst = canRead && !(this.#readLast && this.#writers.length > 0);
    let batch = readFirst ? this.#nextReaders() : this.#nextWriters();
    if (batch === undefined && canRead) {
      batch = readFirst ? this.#nextWriters() : this.#nextReaders();
    }
    if (batch !== undefined) this.#readLast = batch.way === ways.read;
    return batch;
  }

  /** Puts calls that are decided again before those that came later. */
  putBack({ way }: Batch, jobs: readonly Job[]): void {
    if (way === this.ways.read) this.#readers = jobs.concat(this.#readers);
    else this.#writers = jobs.concat(this.#writers);
  }

  /** Rejects all waiting calls. */
  rejectAll(error: Error): void {
    const waiting = [...this.#readers, ...this.#writers];
    this.#readers = [];
    this.#writers = [];
    for (const job of waiting) {
      this.ways.forget(job);
      job.reject(error);
    }
  }

  /** A batch for the only call that waits, while no row is in use. Most calls come like that. */
  #only(): Batch | undefined {
    const [job] = this.#writers as [Job];
    const way = this.ways.of(job);
    // Whether a call may wait for its lock depends on what is in flight.
    if (way === this.ways.lock || job.expired) return this.#nextWriters();
    this.#writers = [];
    this.#readLast = false;
    return this.ways.begin(way, job);
  }

  #nextWriters(): Batch | undefined {
    const { batch, waiting } = nextWriters(this.ways, this.flights, this.#writers);
    this.#writers = waiting;
    return batch;
  }

  #nextReaders(): Batch | undefined {
    const { batch, waiting } = nextReaders(this.ways, this.#readers);
    this.#readers = waiting;
    return batch;
  }

  /** Removes expired calls. The database has not answered for long, or there are many callers. */
  #purge(): void {
    this.#writers = this.#writers.filter((job) => isWaiting(this.ways, job));
    this.#readers = this.#readers.filter((job) => isWaiting(this.ways, job));
    this.#purgeAt = Math.max(MANY_WAITING, 2 * this.size);
  }
}
