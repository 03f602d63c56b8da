/** One trip's worth of calls: decided on guesses or on what was read, and written guarded. */
import type { RateLimitState } from "../../core/calculate.js";
import { type Plan, plan } from "./plan.js";
import type { RowIO, Statements, Tell } from "./row-io.js";
import type { StateCache } from "./state-cache.js";
import { expiredError, rowKey, type RowId, type Submission } from "./store.js";

/** A call that waits for its answer, whatever that is. */
export type Job = Submission<unknown>;

export interface Batch {
  jobs: readonly Job[];
  /** Theirs, by `rowKey`. */
  rows: ReadonlyMap<string, RowId>;
  /** Whether nothing is written, so that all rows are read. */
  readOnly: boolean;
  /** Whether to lock the rows while deciding, because guards have failed too often. */
  locking: boolean;
}

export interface BatchOutcome {
  /** Calls that must be decided again. */
  again: readonly Job[];
  /** Rows that somebody else had changed, by `rowKey`. */
  lost: ReadonlySet<string>;
  /** Settles the other calls. */
  answer(): void;
}

/** What an attempt has found out, to be acted on once nothing of it can be undone any more. */
interface Attempt extends Plan {
  /** By index of the decision. */
  undecided: Set<number>;
  lost: Map<string, RateLimitState | undefined>;
  won: Map<string, RateLimitState | null>;
  unknown: Set<string>;
}

/** Never rejects. */
export async function commitBatch(
  batch: Batch,
  io: RowIO,
  cache: StateCache,
  isContested: (id: string) => boolean,
): Promise<BatchOutcome> {
  const { jobs, rows, readOnly, locking } = batch;
  // What no write will check must not be a guess.
  const guessOf = readOnly || locking ? () => undefined : cache.get;
  let attempt: Attempt;
  try {
    attempt = await (locking && io.locked !== undefined
      ? io.locked((inside) => attemptAll(batch, io, inside, guessOf, isContested))
      : attemptAll(batch, io, io, guessOf, isContested));
  } catch (error) {
    for (const id of rows.keys()) cache.forget(id);
    if (io.isConflict(error)) return { again: jobs, lost: new Set(rows.keys()), answer() {} };
    const answer = () => {
      for (const job of jobs) job.reject(io.wrap(error));
    };
    return { again: [], lost: new Set(), answer };
  }
  for (const [id, state] of attempt.won) cache.won(id, state);
  for (const [id, state] of attempt.lost) cache.lost(id, state);
  for (const id of attempt.unknown) cache.forget(id);
  const { undecided, settled, lost } = attempt;
  return {
    again: undecided.size === 0 ? [] : jobs.filter((_, index) => undecided.has(index)),
    lost: new Set(lost.keys()),
    answer() {
      for (let index = 0; index < jobs.length; index++) {
        if (undecided.has(index)) continue;
        const outcome = settled[index]!;
        if (outcome.ok) jobs[index]!.resolve(outcome.result);
        else jobs[index]!.reject(outcome.error);
      }
    },
  };
}

function giveUp(): never {
  throw expiredError();
}

async function attemptAll(
  { jobs, rows, locking }: Batch,
  io: RowIO,
  statements: Statements,
  guessOf: StateCache["get"],
  isContested: (id: string) => boolean,
): Promise<Attempt> {
  const states = new Map<string, RateLimitState>();
  const unseen: RowId[] = [];
  for (const [id, row] of rows) {
    const guess = guessOf(id);
    if (guess === undefined) unseen.push(row);
    else states.set(id, guess);
  }
  const guessed: ReadonlySet<string> = new Set(states.keys());
  if (unseen.length > 0) {
    // In one order everywhere, so that two who lock cannot wait for each other in a circle.
    if (locking) unseen.sort((a, b) => (rowKey(a) < rowKey(b) ? -1 : 1));
    for (const [id, state] of await statements.read(unseen)) states.set(id, state);
  }
  // While the rows were read, callers may have been told that the store failed.
  const planned = plan(
    jobs.map(({ decision, expired }) => {
      return expired ? { rows: decision.rows, decide: giveUp } : decision;
    }),
    states,
  );
  const { groups, relied, settled } = planned;
  for (const group of groups) {
    group.contested = group.writes.some(({ row }) => isContested(rowKey(row)));
  }
  const told = new Map<string, RateLimitState>();
  const tell: Tell = (row, state) => told.set(rowKey(row), state);
  const outcomes = groups.length > 0 ? await statements.write(groups, tell) : undefined;

  const undecided = new Set<number>();
  const lost: Attempt["lost"] = new Map();
  const won: Attempt["won"] = new Map();
  const unknown = new Set<string>();
  for (const group of groups) {
    const outcome = outcomes?.get(group);
    for (const { row, next } of group.writes) {
      const id = rowKey(row);
      if (outcome === "written") won.set(id, next);
      else if (outcome === undefined) lost.set(id, told.get(id));
      else unknown.add(id);
    }
    if (outcome === "written") continue;
    for (const index of group.decisions) {
      if (outcome === undefined) undecided.add(index);
      else settled[index] = { ok: false, error: io.wrap(outcome.error) };
    }
  }
  // What no guard vouches for must not rest on guesses. For one row, a later write of it in this
  // batch has vouched; several rows must have been seen at one instant. Read together they were;
  // locked one after the other too, but a row that does not exist cannot be locked.
  const locksOnly = locking && !io.serializable;
  for (const [index, ids] of relied.entries()) {
    if (ids === undefined) continue;
    const isSound =
      ids.length === 1
        ? !guessed.has(ids[0]!) || won.has(ids[0]!)
        : !ids.some((id) => guessed.has(id) || (locksOnly && !states.has(id)));
    if (isSound) continue;
    undecided.add(index);
    for (const id of ids) unknown.add(id);
  }
  return { ...planned, undecided, lost, won, unknown };
}
