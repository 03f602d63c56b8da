/**
 * Crosses the levels of limits with `warnAt`, in the decision that uses their tokens, whatever decision it
 * is: the rows that it writes are compared with the rows as they were.
 */
import { type Bucket, capacityOf } from "../../../core/config.js";
import type { Row } from "../../../core/rows/row.js";
import { CROSSED, codeOf, crossingOf, WARNINGS, warningKey } from "../../../core/rows/warning.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { rowId, rowKey, type RowId } from "../../store/store.js";

/** The row of a limit with `warnAt`, and the rows that a crossing writes beside it. */
export interface WarnedRow {
  readonly row: RowId;
  readonly config: Bucket;
  /** All rows, in the order of the fields below. */
  readonly rows: readonly RowId[];
  readonly crossed: RowId;
  /** One for each level. */
  readonly warnings: readonly RowId[];
}

/** The part of a draft that this file needs. */
interface WrittenRows {
  peek(row: RowId): Row | null;
  peekStored(row: RowId): Row | null;
  write(row: RowId, next: Row | null): void;
}

/** A level that a decision has crossed. */
export interface Crossed {
  /** The limit. */
  readonly name: string;
  /** The stored key; `undefined` for the shared bucket. */
  readonly key: string | undefined;
  readonly level: number;
  /** Tokens used after the decision. */
  readonly used: number;
  /** The capacity. */
  readonly of: number;
}

/** The rows among these that belong to limits with `warnAt`. */
export function warnedRows(rows: readonly RowId[], clock: () => number): readonly WarnedRow[] {
  let found: WarnedRow[] | undefined;
  for (const row of rows) {
    if (row.config?.warnAt === undefined) continue;
    // Two items of one call may be for the same bucket.
    if (found?.some((each) => rowKey(each.row) === rowKey(row))) continue;
    (found ??= []).push(warnedRow(row, row.config, clock()));
  }
  return found ?? NONE;
}

const NONE: readonly never[] = [];

function warnedRow(row: RowId, config: Bucket, now: number): WarnedRow {
  const { name, key } = row;
  const crossed = rowId(sideName(CROSSED, name), key, 0, CROSSED.configOf(config, 0));
  const of = capacityOf(config);
  const ofWarning = warningKey({ key, at: Math.floor(now), nonce: newNonce(), of });
  const warnings = config.warnAt!.map((level) =>
    rowId(sideName(WARNINGS, name), ofWarning, codeOf(level), WARNINGS.configOf(config, 0)),
  );
  return { row, config, crossed, warnings, rows: [crossed, ...warnings] };
}

/** Ten characters, and fewer once in 36 times. */
function newNonce(): string {
  return Math.random().toString(36).slice(2, 12) || "0";
}

/**
 * Writes what a decision crosses. The row that remembers the highest level needs no guard where it is
 * only read: it changes together with the row of the bucket, which is written.
 *
 * @returns the levels that were crossed.
 */
export function writeWarnings(
  draft: WrittenRows,
  warned: readonly WarnedRow[],
  now: number,
): readonly Crossed[] {
  const found: Crossed[] = [];
  for (const { row, config, crossed, warnings } of warned) {
    const before = draft.peekStored(row);
    const after = draft.peek(row);
    if (after === null || after === before) continue;
    const crossing = crossingOf(config, before, after, draft.peek(crossed), now);
    if (crossing === undefined) continue;
    draft.write(crossed, crossing.crossed);
    const { used } = crossing;
    for (const level of crossing.levels) {
      draft.write(warnings[config.warnAt!.indexOf(level)]!, { used, ts: now });
      found.push({
        name: row.name,
        key: row.key || undefined,
        level,
        used,
        of: capacityOf(config),
      });
    }
  }
  return found;
}
