/**
 * Group commit: calls that wait while a round trip is under way go out together in the next one,
 * one read and one guarded write for all of them, whatever the number of keys. The longer the
 * database takes, the more each trip carries, so throughput grows with contention.
 */
import { plan, type WriteGroup } from "./plan.js";
import { createStateCache } from "./state-cache.js";
import {
  type Call,
  type Decision,
  expiredError,
  type RateLimitStore,
  rowKey,
  type RowId,
} from "./store.js";
import type { RateLimitState } from "../../core/calculate.js";

/** What a database has to offer to be a store. */
export interface RowIO {
  /** The rows that exist, by `rowKey`, as one consistent snapshot. */
  read(rows: readonly RowId[]): Promise<Map<string, RateLimitState>>;
  /**
   * Writes each group all or nothing, and only where every row of it still is as it `was`. Never
   * rejects, because one group may have been written when the next one fails.
   */
  write(groups: readonly WriteGroup[]): Promise<WriteOutcomes>;
  /** Whether an error of `read` says that others were in the way, so that trying again helps. */
  isConflict(error: unknown): boolean;
  /** How an error of the database is shown to callers. */
  wrap(error: unknown): Error;
  /**
   * Trips under way at once, on rows of their own: one is decided while the database works on the
   * other. For the calls on one row there is still only one trip, and it takes them all.
   */
  readonly maxTrips: number;
}

/**
 * What became of each group: written, or an error after which it may or may not have been. A group
 * that is missing lost a race: it certainly was not written, and is to be decided again.
 */
export type WriteOutcomes = Map<WriteGroup, "written" | { error: unknown }>;

interface Job {
  decision: Decision<unknown>;
  call: Call | undefined;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Batch {
  jobs: Job[];
  /** Theirs, by `rowKey`. */
  rows: Map<string, RowId>;
}

/** Rows of which the last written state is remembered; some 100 bytes each. */
const REMEMBERED = 20_000;
/** The most rows in one trip: few enough for two trips to share what many callers want. */
const MAX_ROWS = 256;
/** Races lost in a row for one row before it is left alone for a while. */
const LOSSES_AT_ONCE = 2;
/** The longest such pause, ms: a few round trips, as many others may be waiting to write. */
const MAX_PAUSE = 8;

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createLane(io: RowIO, random: () => number = Math.random): RateLimitStore {
  const cache = createStateCache(REMEMBERED);
  let queue: Job[] = [];
  /** Rows that a trip under way may write, or that rest; calls on them wait for the next one. */
  const busy = new Set<string>();
  /** How many races in a row were lost for a row, where any were. */
  const losses = new Map<string, number>();
  let trips = 0;
  let starting = false;

  /** A tick later, so that calls made in the same tick share the first trip too. */
  function start(): void {
    if (starting || queue.length === 0) return;
    starting = true;
    queueMicrotask(() => {
      starting = false;
      while (trips < io.maxTrips) {
        const batch = takeBatch();
        if (batch.jobs.length === 0) return;
        void travel(batch);
      }
    });
  }

  async function travel({ jobs, rows }: Batch): Promise<void> {
    trips++;
    for (const id of rows.keys()) busy.add(id);
    const { again, lost } = await commit(jobs, rows);
    // Ahead of whoever came later.
    queue = again.concat(queue);
    const resting = rest(lost);
    for (const id of rows.keys()) {
      if (!resting.has(id)) busy.delete(id);
      if (!lost.has(id)) losses.delete(id);
    }
    trips--;
    start();
  }

  /**
   * Leaves rows alone on which race after race is lost, and returns them. The calls on them stay
   * together meanwhile, to go out in one trip: a pause per call would scatter them over many.
   */
  function rest(lost: ReadonlySet<string>): Set<string> {
    const resting = new Set<string>();
    let most = 0;
    for (const id of lost) {
      const count = (losses.get(id) ?? 0) + 1;
      losses.set(id, count);
      if (count <= LOSSES_AT_ONCE) continue;
      resting.add(id);
      most = Math.max(most, count);
    }
    if (resting.size > 0) {
      const pause = random() * Math.min(2 ** (most - LOSSES_AT_ONCE), MAX_PAUSE);
      setTimeout(() => {
        for (const id of resting) busy.delete(id);
        start();
      }, pause);
    }
    return resting;
  }

  /** The calls that have waited longest, of those whose rows no trip is writing. */
  function takeBatch(): Batch {
    const jobs: Job[] = [];
    const rows = new Map<string, RowId>();
    const waiting: Job[] = [];
    // Who has to wait is not overtaken on any of its rows, or several rows would never be free.
    const blocked = new Set(busy);
    for (const job of queue) {
      const { rows: wanted } = job.decision;
      if (job.call?.expired) {
        // Its caller has already been told that the store failed, so it must not consume.
        job.reject(expiredError());
      } else if (
        wanted.some((row) => blocked.has(rowKey(row))) ||
        (rows.size >= MAX_ROWS && wanted.some((row) => !rows.has(rowKey(row))))
      ) {
        waiting.push(job);
        for (const row of wanted) blocked.add(rowKey(row));
      } else {
        jobs.push(job);
        for (const row of wanted) rows.set(rowKey(row), row);
      }
    }
    queue = waiting;
    return { jobs, rows };
  }

  /** Settles the calls whose decision stands; returns the others, and the rows that were lost. */
  async function commit(
    batch: readonly Job[],
    rows: Map<string, RowId>,
  ): Promise<{ again: Job[]; lost: Set<string> }> {
    const states = new Map<string, RateLimitState>();
    const unknown: RowId[] = [];
    for (const [id, row] of rows) {
      const guess = cache.get(id);
      if (guess === undefined) unknown.push(row);
      else states.set(id, guess);
    }
    const guessed: ReadonlySet<string> = new Set(states.keys());
    const unproven = new Set(guessed);
    try {
      if (unknown.length > 0) {
        for (const [id, state] of await io.read(unknown)) states.set(id, state);
      }
    } catch (error) {
      if (io.isConflict(error)) return { again: [...batch], lost: new Set(rows.keys()) };
      for (const job of batch) job.reject(io.wrap(error));
      return { again: [], lost: new Set() };
    }
    const { settled, groups, relied } = plan(
      batch.map((job) => job.decision),
      states,
    );
    const outcomes = groups.length > 0 ? await io.write(groups) : NOTHING_WRITTEN;
    const undecided = new Set<number>();
    const lost = new Set<string>();
    for (const group of groups) {
      const outcome = outcomes.get(group);
      for (const { row, next } of group.writes) {
        const id = rowKey(row);
        if (outcome === "written") {
          cache.won(id, next);
          unproven.delete(id);
        } else if (outcome === undefined) {
          lost.add(id);
          cache.lost(id);
        } else cache.forget(id);
      }
      if (outcome === "written") continue;
      for (const index of group.decisions) {
        if (outcome === undefined) undecided.add(index);
        else settled[index] = { ok: false, error: io.wrap(outcome.error) };
      }
    }
    // What no guard vouches for must not rest on guesses. For one row, a later write of it in this
    // batch has vouched; several rows must have been seen at one instant, so read together.
    for (const [index, ids] of relied.entries()) {
      if (ids === undefined) continue;
      const sound = ids.length === 1 ? !unproven.has(ids[0]!) : !ids.some((id) => guessed.has(id));
      if (sound) continue;
      undecided.add(index);
      for (const id of ids) cache.forget(id);
    }
    const again = batch.filter((job, index) => {
      if (undecided.has(index)) return true;
      const outcome = settled[index]!;
      if (outcome.ok) job.resolve(outcome.result);
      else job.reject(outcome.error);
      return false;
    });
    return { again, lost };
  }

  return {
    apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      const enqueue = (decision: Decision<TResult>) =>
        new Promise<TResult>((resolve, reject) => {
          queue.push({ decision, call, resolve, reject });
        });
      const results = Promise.all(decisions.map(enqueue));
      start();
      return results;
    },
  };
}

const NOTHING_WRITTEN: WriteOutcomes = new Map();
