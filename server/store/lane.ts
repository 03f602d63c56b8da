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
  /** The most rows that one trip can carry. */
  readonly maxRows: number;
}

/**
 * What became of each group: written, or an error after which it may or may not have been. A group
 * that is missing lost a race: it certainly was not written, and is to be decided again.
 */
export type WriteOutcomes = Map<WriteGroup, "written" | { error: unknown }>;

interface Job {
  decision: Decision<unknown>;
  call: Call | undefined;
  /** How often it was decided on states that were no longer true. */
  losses: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Rows of which the last written state is remembered; some 100 bytes each. */
const REMEMBERED = 20_000;
/** The longest pause of a call that keeps losing races, ms. */
const MAX_PAUSE = 50;

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createLane(io: RowIO, random: () => number = Math.random): RateLimitStore {
  const cache = createStateCache(REMEMBERED);
  let queue: Job[] = [];
  let running = false;

  /** A tick later, so that calls made in the same tick share the first trip too. */
  function start(): void {
    if (running) return;
    running = true;
    queueMicrotask(() => void run());
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      const batch = takeBatch();
      if (batch.length > 0) await commit(batch);
    }
    running = false;
  }

  function takeBatch(): Job[] {
    const batch: Job[] = [];
    let room = io.maxRows;
    let taken = 0;
    for (; taken < queue.length; taken++) {
      const job = queue[taken]!;
      // Its caller has already been told that the store failed, so it must not consume.
      if (job.call?.expired) {
        job.reject(expiredError());
        continue;
      }
      room -= job.decision.rows.length;
      if (room < 0 && batch.length > 0) break;
      batch.push(job);
    }
    queue = taken === queue.length ? [] : queue.slice(taken);
    return batch;
  }

  async function commit(batch: readonly Job[]): Promise<void> {
    const rows = distinctRows(batch);
    const states = new Map<string, RateLimitState>();
    const unknown: RowId[] = [];
    for (const [id, row] of rows) {
      const guess = cache.get(id);
      if (guess === undefined) unknown.push(row);
      else states.set(id, guess);
    }
    const guessed = new Set(states.keys());
    try {
      if (unknown.length > 0) {
        for (const [id, state] of await io.read(unknown)) states.set(id, state);
      }
    } catch (error) {
      if (io.isConflict(error)) again(batch);
      else for (const job of batch) job.reject(io.wrap(error));
      return;
    }
    const { settled, groups, relied } = plan(
      batch.map((job) => job.decision),
      states,
    );
    const outcomes = groups.length > 0 ? await io.write(groups) : NOTHING_WRITTEN;
    const lost = new Set<number>();
    for (const group of groups) {
      const outcome = outcomes.get(group);
      for (const { row, next } of group.writes) {
        const id = rowKey(row);
        if (outcome === "written") {
          cache.won(id, next);
          guessed.delete(id);
        } else if (outcome === undefined) cache.lost(id);
        else cache.forget(id);
      }
      if (outcome === "written") continue;
      for (const index of group.decisions) {
        if (outcome === undefined) lost.add(index);
        else settled[index] = { ok: false, error: io.wrap(outcome.error) };
      }
    }
    // What wrote nothing has no guard to vouch for it, so it must not rest on a guess.
    for (const [index, ids] of relied.entries()) {
      const guesses = ids?.filter((id) => guessed.has(id)) ?? [];
      if (guesses.length === 0) continue;
      lost.add(index);
      for (const id of ids!) cache.forget(id);
    }
    for (const [index, job] of batch.entries()) {
      const outcome = settled[index]!;
      if (lost.has(index)) continue;
      if (outcome.ok) job.resolve(outcome.result);
      else job.reject(outcome.error);
    }
    if (lost.size > 0) again(batch.filter((_, index) => lost.has(index)));
  }

  /** Decides these again: at once and ahead of whoever came later, or after a pause. */
  function again(jobs: readonly Job[]): void {
    const soon = jobs.filter((job) => ++job.losses <= 2);
    queue = soon.concat(queue);
    for (const job of jobs) {
      if (job.losses <= 2) continue;
      const pause = random() * Math.min(2 ** job.losses, MAX_PAUSE);
      setTimeout(() => {
        queue.push(job);
        start();
      }, pause);
    }
  }

  return {
    apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      const enqueue = (decision: Decision<TResult>) =>
        new Promise<TResult>((resolve, reject) => {
          queue.push({ decision, call, losses: 0, resolve, reject });
        });
      start();
      return Promise.all(decisions.map(enqueue));
    },
  };
}

const NOTHING_WRITTEN: WriteOutcomes = new Map();

function distinctRows(batch: readonly Job[]): Map<string, RowId> {
  const rows = new Map<string, RowId>();
  for (const job of batch) {
    for (const row of job.decision.rows) rows.set(rowKey(row), row);
  }
  return rows;
}
