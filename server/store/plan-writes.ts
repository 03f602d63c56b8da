/**
 * Runs a batch of decisions one after the other on states that were read together, and plans the
 * writes. Each decision sees the writes of the decisions before it, so a thousand calls on one row
 * become one write.
 *
 * Rows that one decision depends on form a group. A group is written all or nothing, and its decisions
 * take effect only if the group is written. A decision that throws fails alone.
 */
import type { Row } from "../../core/rows/row.js";
import { capacityOf, type Bucket } from "../../core/config.js";
import { type Decision, type Outcome, rowKey, type RowId } from "./store.js";

/**
 * A guarded write: it takes effect only if the state of the row still is `was`. `null` stands for no
 * row. If `was` and `next` are the same, the write is only a guard.
 */
export interface Write {
  row: RowId;
  was: Row | null;
  next: Row | null;
  /** The configs of the row, if the decisions of the batch name the row with several configs. */
  also?: (Bucket | undefined)[] | undefined;
}

/** Writes that take effect all or nothing, and the decisions (by index) that depend on them. */
export interface WriteGroup {
  writes: Write[];
  decisions: number[];
}

export type Settled = { ok: true; result: unknown } | { ok: false; error: unknown };

export interface Plan {
  /**
   * By index of the decision. The outcome of a decision in a group counts only once the group is
   * written.
   */
  settled: Settled[];
  groups: WriteGroup[];
  /**
   * The rows that a decision read, by index of the decision and as `rowKey`s. Only for decisions that
   * no guard protects: such a decision wrote nothing, and read nothing that was written in this batch.
   */
  relied: (readonly string[] | undefined)[];
}

interface Entry extends Write {
  id: string;
  /**
   * Set if an earlier decision of this batch wrote the row, or read the row together with a written
   * one. The database may not hold `next` yet.
   */
  group: Group | undefined;
}

/** Groups that share a row are merged: the smaller one points to the larger one (union–find). */
interface Group {
  into: Group | undefined;
  decisions: number[];
}

/** The states of rows, by {@link rowKey}. A row that is missing does not exist. */
export type RowStates = Pick<ReadonlyMap<string, Row>, "get">;

export function planWrites(decisions: readonly Decision<unknown>[], states: RowStates): Plan {
  const entries = new Map<string, Entry>();
  const settled: Settled[] = [];
  const relied: Plan["relied"] = [];
  for (let index = 0; index < decisions.length; index++) {
    const decision = decisions[index]!;
    const seen = decision.rows.map((row) => entryOf(entries, states, row));
    let outcome: Outcome<unknown>;
    try {
      outcome = decision.decide(seen.map((entry) => entry.next));
      demandFinite(outcome.writes, decision.rows);
    } catch (error) {
      settled.push({ ok: false, error });
      continue;
    }
    settled.push({ ok: true, result: outcome.result });
    const wrote = tie(seen, outcome.writes, index);
    if (!wrote && seen[0]?.group === undefined) relied[index] = seen.map(({ id }) => id);
  }
  return { settled, relied, groups: collect(entries, relied) };
}

/**
 * Refuses a number that is not finite. Each database has its own answer to such a number, and would
 * fail the other calls of the batch, too.
 */
export function demandFinite(writes: Outcome<unknown>["writes"], rows: readonly RowId[]): void {
  const index = writes?.findIndex((next) => next && !Number.isFinite(next.used + next.ts)) ?? -1;
  if (index === -1) return;
  const { used, ts } = writes![index]!;
  throw new RangeError(
    `the numbers of rate limit "${rows[index]!.name}" are too large: a row cannot hold ` +
      `${Number.isFinite(used) ? ts : used}; use a smaller rate, capacity or count`,
  );
}

function entryOf(entries: Map<string, Entry>, states: RowStates, row: RowId): Entry {
  const id = rowKey(row);
  let entry = entries.get(id);
  if (entry === undefined) {
    const was = states.get(id) ?? null;
    entry = { id, row, was, next: was, group: undefined, also: undefined };
    entries.set(id, entry);
  } else if (!fillsAlike(row.config, entry.row.config)) {
    entry.also ??= [entry.row.config];
    if (!entry.also.some((each) => fillsAlike(row.config, each))) entry.also.push(row.config);
  }
  return entry;
}

function fillsAlike(a: Bucket | undefined, b: Bucket | undefined): boolean {
  if (a === b) return true;
  return (
    a !== undefined &&
    b !== undefined &&
    a.kind === b.kind &&
    a.rate === b.rate &&
    a.period === b.period &&
    a.windows === b.windows &&
    capacityOf(a) === capacityOf(b)
  );
}

/**
 * Notes the writes of a decision, and joins into one group the rows that the decision writes, and those
 * of its rows that are in a group already. If a decision writes nothing, but has read a row of a group,
 * all rows of the decision are joined, so that a guard protects everything that the decision has read.
 * Returns whether the decision wrote.
 */
function tie(seen: readonly Entry[], writes: Outcome<unknown>["writes"], index: number): boolean {
  const wrote = writes?.some(isWrite) ?? false;
  const tiesAll = !wrote && seen.some(isTied);
  let group: Group | undefined;
  for (let i = 0; i < seen.length; i++) {
    const entry = seen[i]!;
    const next = writes?.[i];
    if (next === undefined && entry.group === undefined && !tiesAll) continue;
    group = merge(group, entry.group);
    entry.group = group;
    if (next !== undefined) entry.next = next;
  }
  group?.decisions.push(index);
  return wrote;
}

const isWrite = (next: Row | null | undefined) => next !== undefined;
const isTied = (entry: Entry) => entry.group !== undefined;

function collect(entries: ReadonlyMap<string, Entry>, relied: (readonly string[] | undefined)[]) {
  const groups = new Map<Group, WriteGroup>();
  for (const { group: tied, row, was, next, also } of entries.values()) {
    if (tied === undefined) continue;
    const root = rootOf(tied);
    let group = groups.get(root);
    if (group === undefined) {
      group = { writes: [], decisions: root.decisions };
      groups.set(root, group);
    }
    group.writes.push(also === undefined ? { row, was, next } : { row, was, next, also });
  }
  for (const [root, group] of groups) {
    if (!group.writes.every(({ was, next }) => sameState(was, next))) continue;
    // A group without changes took effect when its rows were read.
    const ids = group.writes.map(({ row }) => rowKey(row));
    for (const index of group.decisions) relied[index] = ids;
    groups.delete(root);
  }
  return [...groups.values()];
}

function sameState(a: Row | null, b: Row | null): boolean {
  return a?.used === b?.used && a?.ts === b?.ts;
}

/** Merges two groups; creates one if there is none yet. */
function merge(a: Group | undefined, b: Group | undefined): Group {
  if (a === undefined) return b === undefined ? { into: undefined, decisions: [] } : rootOf(b);
  if (b === undefined) return rootOf(a);
  const [left, right] = [rootOf(a), rootOf(b)];
  if (left === right) return left;
  const [large, small] =
    left.decisions.length >= right.decisions.length ? [left, right] : [right, left];
  small.into = large;
  large.decisions.push(...small.decisions);
  return large;
}

function rootOf(group: Group): Group {
  let root = group;
  while (root.into !== undefined) root = root.into;
  return root;
}
