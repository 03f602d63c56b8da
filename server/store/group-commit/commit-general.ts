/** The general path: a batch is read, decided here, and written with guards. */
import type { RateLimitState } from "../../../core/calculate.js";
import { type Plan, planWrites, type WriteGroup } from "../plan-writes.js";
import { type RowAccess, type RowStatements, UnsentError } from "../row-access.js";
import { expiredError, rowKey } from "../store.js";
import type { Batch, Job, Way } from "./batch.js";

export interface BatchOutcome {
  /** Calls that must be decided again. */
  again: readonly Job[];
  /** The way on which they are decided again. */
  nextWay: Way;
  /** How many of them met a conflict with another transaction. */
  conflicts: number;
  /** Whether the database failed, so that calls are rejected. */
  failed: boolean;
  /** Rows that were written, by this batch or by the call that it lost to, by `rowKey`. */
  written: Iterable<string>;
  /** Rows from which the plain path cannot take, by `rowKey`, and until when, epoch ms. */
  spent: ReadonlyMap<string, number>;
  /** Settles the other calls. */
  answer(): void;
}

/** The outcome of one try. It counts once the try can no longer be rolled back. */
interface Attempt {
  settled: Plan["settled"];
  /** By index of the decision. */
  undecided: Set<number>;
  /** How many of these met a conflict. */
  conflicts: number;
  /** Whether all of these lost because a new row had been inserted by another call. */
  lostNewRows: boolean;
  /** Whether a write was not sent, because a call of it had timed out. */
  unsent: boolean;
  /** Whether a write failed. */
  failed: boolean;
  written: string[];
}

/**
 * Never rejects.
 *
 * @param isHurried see `RowAccess.locked`.
 */
export async function commitGeneral(
  batch: Batch,
  access: RowAccess,
  isHurried: boolean,
): Promise<BatchOutcome> {
  const { jobs, way } = batch;
  let attempt: Attempt;
  try {
    attempt = await (way === "lock" && access.locked !== undefined
      ? access.locked((inside) => attemptAll(batch, inside, access), isHurried)
      : attemptAll(batch, access, access));
  } catch (error) {
    if (error instanceof UnsentError) return unsent(batch);
    return failed(batch, access, error, way === "read" ? "read" : wayAfterLoss(access));
  }
  const { undecided, settled, lostNewRows, ...rest } = attempt;
  const nextWay =
    way === "decide" ? wayAfterLoss(access, lostNewRows) : wayAfterLock(batch, access);
  return {
    again: undecided.size === 0 ? [] : jobs.filter((_, index) => undecided.has(index)),
    nextWay: rest.unsent && rest.conflicts === 0 ? way : nextWay,
    ...rest,
    spent: new Map(),
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

/**
 * After a conflict of a guarded write, lock the rows if possible: the next guard would fail too. A
 * row that another call has inserted was only missing, and the plain path may find it now. Measured
 * and rejected: to lock such rows, which are many after a burst of calls on new keys, one by one.
 */
function wayAfterLoss({ locked }: RowAccess, lostNewRows = false): Way {
  if (lostNewRows) return "take";
  return locked === undefined ? "decide" : "lock";
}

/** A row that does not exist cannot be locked, so its calls are read in one snapshot instead. */
function wayAfterLock({ way }: Batch, { serializable }: RowAccess): Way {
  return way === "lock" && !serializable ? "decide" : way;
}

/** Nothing was sent: the calls that have not timed out are tried again on the same way. */
export function unsent({ jobs, way }: Batch): BatchOutcome {
  const rest = { written: [], spent: new Map<string, number>(), answer() {} };
  return { again: jobs, nextWay: way, conflicts: 0, failed: false, ...rest };
}

/** The outcome of a batch whose statement failed as a whole. */
export function failed(
  { jobs }: Batch,
  access: RowAccess,
  error: unknown,
  nextWay: Way,
): BatchOutcome {
  const conflicted = access.isConflict(error);
  const conflicts = conflicted ? jobs.length : 0;
  const answer = () => {
    for (const job of jobs) job.reject(access.wrap(error));
  };
  const rest = {
    nextWay,
    conflicts,
    failed: !conflicted,
    written: [],
    spent: new Map<string, number>(),
  };
  return conflicted ? { again: jobs, ...rest, answer() {} } : { again: [], ...rest, answer };
}

function giveUp(): never {
  throw expiredError();
}

async function attemptAll(
  { jobs, rows, way }: Batch,
  statements: RowStatements,
  access: RowAccess,
): Promise<Attempt> {
  const locking = way === "lock";
  const ids = [...rows.keys()];
  // Lock in the same order in every process, so that two transactions cannot wait for each other.
  if (locking) ids.sort();
  const states = await statements.read(ids.map((id) => rows.get(id)!));
  // Calls may have timed out while their rows were read.
  const { groups, relied, settled } = planWrites(
    jobs.map(({ decision, expired }) => {
      return expired ? { rows: decision.rows, decide: giveUp } : decision;
    }),
    states,
  );
  // They may time out while the write waits for a connection, too.
  const isWanted = ({ decisions }: WriteGroup) => !decisions.some((index) => jobs[index]!.expired);
  const outcomes = groups.length > 0 ? await statements.write(groups, isWanted) : undefined;

  const undecided = new Set<number>();
  const written: string[] = [];
  let conflicts = 0;
  let hasUnsent = false;
  let hasFailed = false;
  let lostNewRows = true;
  for (const group of groups) {
    const outcome = outcomes?.get(group);
    if (outcome === "written" || outcome === "exists") {
      for (const { row } of group.writes) written.push(rowKey(row));
    }
    if (outcome === "written") continue;
    if (typeof outcome !== "object" || outcome.error instanceof UnsentError) {
      for (const index of group.decisions) undecided.add(index);
      if (typeof outcome === "object") hasUnsent = true;
      else conflicts += group.decisions.length;
      if (outcome === undefined) lostNewRows = false;
      continue;
    }
    hasFailed = true;
    const error = access.wrap(outcome.error);
    for (const index of group.decisions) settled[index] = { ok: false, error };
  }
  // A decision without a guard must have seen its rows at one instant. That is so for rows that
  // were read in one snapshot, and for rows that are all locked. A row that does not exist is not
  // locked.
  if (locking && !access.serializable) undecideUnlocked(relied, states, undecided);
  return {
    settled,
    undecided,
    conflicts,
    lostNewRows,
    unsent: hasUnsent,
    failed: hasFailed,
    written,
  };
}

function undecideUnlocked(
  relied: Plan["relied"],
  states: ReadonlyMap<string, RateLimitState>,
  undecided: Set<number>,
): void {
  for (const [index, ids] of relied.entries()) {
    if (ids === undefined || ids.length === 1) continue;
    if (ids.some((id) => !states.has(id))) undecided.add(index);
  }
}
