/**
 * Group commit: calls that wait while a round trip is under way go out together in the next one,
 * one read and one guarded write for all of them, whatever the number of keys. The longer the
 * database takes, the more each trip carries, so throughput grows with contention.
 */
import { plan, type WriteGroup } from "./plan.js";
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
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createLane(io: RowIO, random: () => number = Math.random): RateLimitStore {
  let queue: Job[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    let fruitless = 0;
    while (queue.length > 0) {
      const batch = takeBatch();
      if (batch.length === 0) continue;
      const lost = await commit(batch);
      // Those that lost a race are decided again, ahead of whoever came later.
      queue = lost.concat(queue);
      fruitless = lost.length === batch.length ? fruitless + 1 : 0;
      if (fruitless > 1) await pause(random() * Math.min(2 ** fruitless, MAX_PAUSE));
    }
    running = false;
  }

  function takeBatch(): Job[] {
    const batch: Job[] = [];
    const rows = new Set<string>();
    let taken = 0;
    for (; taken < queue.length; taken++) {
      const job = queue[taken]!;
      // Its caller has already been told that the store failed, so it must not consume.
      if (job.call?.expired) {
        job.reject(expiredError());
        continue;
      }
      const full = rows.size + job.decision.rows.length > io.maxRows && batch.length > 0;
      if (full) break;
      for (const row of job.decision.rows) rows.add(rowKey(row));
      batch.push(job);
    }
    queue = queue.slice(taken);
    return batch;
  }

  /** Settles the jobs whose decision stands; returns those that must be decided again. */
  async function commit(batch: readonly Job[]): Promise<Job[]> {
    let states: Map<string, RateLimitState>;
    try {
      states = await io.read(distinctRows(batch));
    } catch (error) {
      if (io.isConflict(error)) return [...batch];
      for (const job of batch) job.reject(io.wrap(error));
      return [];
    }
    const { settled, groups } = plan(
      batch.map((job) => job.decision),
      states,
    );
    const writing = groups.filter((group) => group.writes.length > 0);
    const outcomes: WriteOutcomes = writing.length > 0 ? await io.write(writing) : new Map();
    const lost = new Set<number>();
    for (const group of writing) {
      const outcome = outcomes.get(group);
      if (outcome === "written") continue;
      for (const index of group.decisions) {
        if (outcome === undefined) lost.add(index);
        else settled[index] = { ok: false, error: io.wrap(outcome.error) };
      }
    }
    return batch.filter((job, index) => {
      if (lost.has(index)) return true;
      const outcome = settled[index]!;
      if (outcome.ok) job.resolve(outcome.result);
      else job.reject(outcome.error);
      return false;
    });
  }

  return {
    apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      const results = decisions.map(
        (decision) =>
          new Promise<TResult>((resolve, reject) => {
            queue.push({ decision, call, resolve, reject });
          }),
      );
      // A tick later, so that calls made in the same tick share the first trip too.
      if (!running) {
        running = true;
        queueMicrotask(() => void run());
      }
      return Promise.all(results);
    },
  };
}

/** The longest pause between two tries that both lost everything, ms. */
const MAX_PAUSE = 50;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function distinctRows(batch: readonly Job[]): RowId[] {
  const rows = new Map<string, RowId>();
  for (const job of batch) {
    for (const row of job.decision.rows) rows.set(rowKey(row), row);
  }
  return [...rows.values()];
}
