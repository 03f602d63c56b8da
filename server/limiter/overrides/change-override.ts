/**
 * Sets or ends an override, and moves the row that it is about: what was used stays used, see
 * `core/change-config.ts`. An override of all keys moves the shared bucket alone, because there may be
 * any number of other rows.
 *
 * Both happen in one transaction where the store has one for them. Elsewhere they are two steps: the one
 * comes first that leaves the smaller level to the calls in between.
 */
import { capacityOf } from "../../../core/config.js";
import { isCredits } from "../../../core/rows/credits.js";
import { sameConfig } from "../../../core/same-config.js";
import { bucketId } from "../../../core/bucket-id.js";
import type { OverrideRow, OverrideTable } from "../../store/override-table.js";
import { type Call, expiredError, type RateLimitStore, type RowId } from "../../store/store.js";
import { changeClaim } from "../change-config.js";
import { ClaimDecision } from "../draft.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import { createOverrideLimit, type OverrideLimitOptions } from "./override-limit.js";
import { beneathAnswer } from "./overridden-answer.js";
import { overridesByName } from "./overrides-by-name.js";

export interface ChangeOverrideOptions extends Omit<OverrideLimitOptions, "known"> {
  store: RateLimitStore;
  table: OverrideTable;
  /** What this process holds of a row ends: blocks, and denials that it remembers. */
  rowChanged(row: RowId): void;
}

export interface OverrideChange {
  /** The limit without overrides. */
  plain: ResolvedLimit;
  /** The row of the table, or its id, and `undefined` for an override that ends. */
  id: Pick<OverrideRow, "name" | "key">;
  row: OverrideRow | undefined;
}

/** @returns whether the override is there now, or was there before it ended. */
export async function changeOverride(
  options: ChangeOverrideOptions,
  change: OverrideChange,
  call: Call,
): Promise<boolean> {
  const { store, table, rowChanged } = options;
  const limits = limitsOf(options, change, await table.read(call));
  if (limits === undefined) return write(table, change, call);
  const { transaction } = store;
  const isOne = transaction !== undefined && table.writeWithin !== undefined;
  const [row] = change.plain.rows;
  rowChanged(row);
  try {
    return isOne
      ? await changeTogether(options, change, call)
      : await changeInTurn(options, change, limits, call);
  } finally {
    // Also if it fails, because the answer alone may have been lost.
    rowChanged(row);
  }
}

function changeTogether(
  options: ChangeOverrideOptions,
  change: OverrideChange,
  call: Call,
): Promise<boolean> {
  const { store, table, clock } = options;
  return store.transaction!(async (tx, inside) => {
    // The caller was told that it has failed, and may have written something else.
    if (call.expired) throw expiredError();
    const limits = limitsOf(options, change, await table.readWithin!(tx));
    if (limits !== undefined) await inside.apply([moving(limits, clock)]);
    return table.writeWithin!(tx, change.row ?? change.id);
  }, {});
}

async function changeInTurn(
  { store, table, clock }: ChangeOverrideOptions,
  change: OverrideChange,
  limits: Limits,
  call: Call,
): Promise<boolean> {
  const move = () => store.apply([moving(limits, clock)], call);
  if (capacityOf(limits.to.config) < capacityOf(limits.from.config)) {
    await move();
    return write(table, change, call);
  }
  const isThere = await write(table, change, call);
  await move();
  return isThere;
}

async function write(
  table: OverrideTable,
  { id: { name, key }, row }: OverrideChange,
  call: Call,
): Promise<boolean> {
  if (row === undefined) return table.remove(name, key, call);
  await table.write(row, call);
  return true;
}

export interface Limits {
  from: ResolvedLimit;
  to: ResolvedLimit;
}

export function moving({ from, to }: Limits, clock: () => number): ClaimDecision<number> {
  return new ClaimDecision(changeClaim(from, to), clock);
}

/**
 * The limit before the change and after it; `undefined` where no row moves.
 *
 * @param rows the table before the change.
 */
export function limitsOf(
  options: Omit<OverrideLimitOptions, "known">,
  change: OverrideChange,
  rows: readonly OverrideRow[],
): Limits | undefined {
  const { plain } = change;
  const from = limitBy(options, plain, rows);
  const to = limitBy(options, plain, changedTable(rows, change));
  if (from === undefined || to === undefined || isCredits(plain.config)) return undefined;
  return sameConfig(from.config, to.config) ? undefined : { from, to };
}

/** The table after a change. */
export function changedTable(
  rows: readonly OverrideRow[],
  { id, row }: Pick<OverrideChange, "id" | "row">,
): OverrideRow[] {
  const others = rows.filter((each) => bucketId(each.name, each.key) !== bucketId(id.name, id.key));
  return row === undefined ? others : [...others, row];
}

/** `undefined` where a rule and a config do not go together: no call is charged by them. */
function limitBy(
  options: Omit<OverrideLimitOptions, "known">,
  plain: ResolvedLimit,
  rows: readonly OverrideRow[],
): ResolvedLimit | undefined {
  const byName = overridesByName(rows);
  try {
    const applied = createOverrideLimit({
      ...options,
      known: { of: (name) => byName.get(name) },
    });
    return beneathAnswer(applied(plain, undefined));
  } catch {
    return undefined;
  }
}
