/**
 * One try of a batch that is decided in this process: rows are read, decided, and written with guards.
 */
import type { Row } from "../../../../core/rows/row.js";
import { type Plan, planWrites, type WriteGroup } from "../../plan-writes.js";
import { type RowAccess, type RowStatements, UnsentError } from "../../row-access.js";
import { expiredError, rowKey } from "../../store.js";
import type { GeneralBatch } from "../batch.js";

/** The findings of one try. The findings count once the try can no longer be rolled back. */
export interface Attempt {
  settled: Plan["settled"];
  /** The calls that have to be decided again, by index. */
  undecided: Set<number>;
  /** How many of the undecided calls met a conflict. */
  conflicts: number;
  /** Whether all undecided calls lost because another call had inserted their new row. */
  lostNewRows: boolean;
  /** Whether a write was not sent, because one of its calls had timed out. */
  unsent: boolean;
  /** Whether a write failed. */
  failed: boolean;
  /** Rows that were written, by this batch or by the call that the batch lost to, as `rowKey`s. */
  written: string[];
}

/** @param isLocking whether the statements lock the rows that they read. */
export async function attempt(
  { jobs, rows, ids }: GeneralBatch,
  statements: RowStatements,
  access: Pick<RowAccess, "wrap" | "serializable">,
  isLocking: boolean,
): Promise<Attempt> {
  // Lock in the same order in every process, so that two transactions cannot wait for each other.
  const order = isLocking ? ids.toSorted() : ids;
  const states = await statements.read(order.map((id) => rows.get(id)!));
  // Calls may have timed out while their rows were read.
  const { groups, relied, settled } = planWrites(
    jobs.map(({ decision, expired }) => {
      return expired ? { rows: decision.rows, decide: giveUp } : decision;
    }),
    states,
  );
  // Calls may also time out while the write waits for a connection.
  const isWanted = ({ decisions }: WriteGroup) => !decisions.some((index) => jobs[index]!.expired);
  const outcomes = groups.length > 0 ? await statements.write(groups, isWanted) : undefined;

  const made: Attempt = {
    settled,
    undecided: new Set(),
    conflicts: 0,
    lostNewRows: true,
    unsent: false,
    failed: false,
    written: [],
  };
  for (const group of groups) note(made, group, outcomes?.get(group), access);
  // A decision without a guard must have seen its rows at one instant. Rows that were read in one
  // snapshot, and rows that are all locked, are seen so. A row that does not exist is not locked, so
  // its decision is made again.
  if (isLocking && !access.serializable) undecideUnlocked(relied, states, made.undecided);
  return made;
}

function giveUp(): never {
  throw expiredError();
}

/** Notes what became of a group of writes. */
function note(
  made: Attempt,
  { writes, decisions }: WriteGroup,
  outcome: "written" | "exists" | { error: unknown } | undefined,
  { wrap }: Pick<RowAccess, "wrap">,
): void {
  if (outcome === "written" || outcome === "exists") {
    for (const { row } of writes) made.written.push(rowKey(row));
  }
  if (outcome === "written") return;
  if (typeof outcome === "object" && !(outcome.error instanceof UnsentError)) {
    made.failed = true;
    const error = wrap(outcome.error);
    for (const index of decisions) made.settled[index] = { ok: false, error };
    return;
  }
  for (const index of decisions) made.undecided.add(index);
  if (typeof outcome === "object") made.unsent = true;
  else made.conflicts += decisions.length;
  if (outcome === undefined) made.lostNewRows = false;
}

function undecideUnlocked(
  relied: Plan["relied"],
  states: ReadonlyMap<string, Row>,
  undecided: Set<number>,
): void {
  for (const [index, ids] of relied.entries()) {
    if (ids === undefined || ids.length === 1) continue;
    if (ids.some((id) => !states.has(id))) undecided.add(index);
  }
}
