/**
 * Decisions on rows that answer within one tick: rows in memory, in the storage of a Durable Object, or
 * behind a synchronous client of SQLite. Nothing else runs between a read and the write that was
 * decided on that read, so a write needs no guard.
 */
import type { Row } from "../../core/rows/row.js";
import { takeTokens } from "../../core/decide.js";
import { isOfLarger } from "../../core/rows/bucket.js";
import { demandFinite, type Settled } from "./plan-writes.js";
import { type Decision, rowKey, type RowId } from "./store.js";

export interface RowsAtOnce {
  /** The state of a row; `null` if the row does not exist. */
  get(row: RowId): Row | null;
  /** Writes a row; `null` deletes the row. */
  put(row: RowId, next: Row | null): void;
}

/** A row of the decisions: its state at the read (`was`), and after the decisions so far (`next`). */
interface SeenRow {
  row: RowId;
  was: Row | null;
  next: Row | null;
}

interface Decided {
  /** By index of the decision. */
  settled: Settled[];
  /** The rows that are to be written. */
  changed: SeenRow[];
}

/**
 * Decides one decision after the other. Each decision sees its rows as the decisions before it have
 * left them. Each row is read once. A decision that throws fails alone.
 */
export function decideAtOnce(
  decisions: readonly Decision<unknown>[],
  rows: Pick<RowsAtOnce, "get">,
): Decided {
  const seen = new Map<string, SeenRow>();
  const see = (row: RowId): SeenRow => {
    const id = rowKey(row);
    let known = seen.get(id);
    if (known === undefined) {
      const was = rows.get(row);
      known = { row, was, next: was };
      seen.set(id, known);
    }
    return known;
  };
  const settled = decisions.map((decision) => settle(decision, decision.rows.map(see)));
  return { settled, changed: [...seen.values()].filter(isChanged) };
}

/** Applies decisions all or nothing: if one of them throws, nothing is written. */
export function applyAtOnce(decisions: readonly Decision<unknown>[], rows: RowsAtOnce): Settled[] {
  const { settled, changed } = decideAtOnce(decisions, rows);
  if (settled.every(({ ok }) => ok)) for (const { row, next } of changed) rows.put(row, next);
  return settled;
}

/** @throws the error of the first decision that has thrown. */
export function resultsOf<TResult>(settled: readonly Settled[]): TResult[] {
  return settled.map((outcome) => {
    if (!outcome.ok) throw outcome.error;
    return outcome.result as TResult;
  });
}

function settle(decision: Decision<unknown>, seen: readonly SeenRow[]): Settled {
  try {
    return (seen.length === 1 ? take(decision, seen[0]!) : undefined) ?? decide(decision, seen);
  } catch (error) {
    return { ok: false, error };
  }
}

/**
 * Takes the tokens of a plain take, if the row has them. `take` makes less garbage than `decide`, which
 * matters where many calls are on one row. A decision on two shards is left to `decide`, which sees
 * both shards.
 */
function take({ plain }: Decision<unknown>, row: SeenRow): Settled | undefined {
  // A take with a least use is left to `decide`, too: here, it saves nothing.
  if (plain === undefined || plain.over !== undefined) return undefined;
  const { config, count, floor, least } = plain;
  // Leave a row of a larger config to `decide`, which keeps what that config has used. SQL statements
  // leave such rows, too.
  if (row.next !== null && isOfLarger(config, row.next)) return undefined;
  const now = plain.clock();
  const next = takeTokens(row.next, config, now, count, floor, least);
  if (next === undefined || !Number.isFinite(next.used + next.ts)) return undefined;
  const result = plain.granted(next, 0, now);
  row.next = next;
  return { ok: true, result };
}

function decide(decision: Decision<unknown>, seen: readonly SeenRow[]): Settled {
  const { result, writes = [] } = decision.decide(seen.map(({ next }) => next));
  demandFinite(writes, decision.rows);
  seen.forEach((each, i) => {
    const next = writes[i];
    if (next !== undefined) each.next = next;
  });
  return { ok: true, result };
}

function isChanged({ was, next }: SeenRow): boolean {
  return was?.used !== next?.used || was?.ts !== next?.ts;
}
