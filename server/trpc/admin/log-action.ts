/** Writes down what operators do, before it is done: so no change is missing after a crash. */
import { allRows } from "../../limiter/claims/choose-shards.js";
import { type StoredRow, storedRows } from "../../limiter/context/stored-rows.js";
import type { LoggedChange, RowState } from "../../limiter/limits/overrides/change-log.js";
import { beneathAnswer } from "../../limiter/limits/overrides/overridden-answer.js";
import { limitNameOf, rowNameOf } from "../../limiter/limits/overrides/override-row.js";
import type { Operator } from "../../limiter/parts/operator.js";
import type { OverrideKind } from "../../limiter/types/override-types.js";
import { keyOption } from "../../../core/key-option.js";

/** The most characters of an operator's name in the log. */
const LONGEST_ACTOR = 100;

/** What is done, and by whom. */
export type LoggedAction = Pick<LoggedChange, "action" | "name" | "key" | "why" | "undoes"> & {
  by: string | undefined;
};

/**
 * Runs an action. What it has replaced, ended and set is written down with it. Where the action fails and
 * has changed nothing, the entry is deleted again, so that only a process that is killed in between leaves an
 * entry without a change. Resolves with the id of the entry; `undefined` where the log is not kept.
 *
 * @param sets the kind of override that the action sets; `undefined` for an action that sets none.
 */
export async function logged(
  operator: Operator,
  { by, ...about }: LoggedAction,
  sets: OverrideKind | undefined,
  work: () => Promise<unknown>,
): Promise<string | undefined> {
  const { overriding } = operator;
  if (overriding === undefined) {
    await work();
    return undefined;
  }
  const { log } = overriding;
  const { action, name, key } = about;
  const entry = { ...about, ...(by !== undefined && { by: by.slice(0, LONGEST_ACTOR) }) };
  const before = await overriding.statesOf(name, key);
  const rows = action === "reset" ? await rowsOf(operator, name, key) : undefined;
  // Without what was before, an entry cannot be undone: its process may be killed before the action.
  const id = await log.add(entry);
  const complete = async () => {
    if (action === "reset") return log.put(id, { ...entry, ...(rows && { rows }) });
    const after = await overriding.statesOf(name, key);
    await log.put(id, { ...entry, ...differenceOf(before, after, name, sets) });
  };
  /** A store that fails may have carried out an action, or a part of it. */
  const hasChanged = async (error: unknown) => {
    if ((error as Error).name !== "RateLimitStoreError") return false;
    if (action === "reset") return !isSame(rows, await rowsOf(operator, name, key));
    const after = await overriding.statesOf(name, key);
    const ids = sets === undefined ? [...before.keys(), ...after.keys()] : [rowNameOf(sets, name)];
    return !ids.every((row) => isSame(before.get(row), after.get(row)));
  };
  try {
    await work();
  } catch (error) {
    const settled = async () => {
      if (!(await hasChanged(error))) await log.drop(id, key);
      // Of a reset, the rows that were there before may be there again.
      else if (action !== "reset") await complete();
    };
    // Where this fails, too, the entry stays.
    await settled().catch(() => {});
    throw error;
  }
  // The action has been done. Its caller and the listeners have to know, also if the store fails from now on.
  await complete().catch(() => {});
  return id;
}

/** Of states and rows, which are plain JSON. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The rows that an action has replaced or ended, and the one that it has set. */
function differenceOf(
  before: ReadonlyMap<string, RowState>,
  after: ReadonlyMap<string, RowState>,
  name: string,
  sets: OverrideKind | undefined,
): Pick<LoggedChange, "before" | "after"> {
  if (sets !== undefined) {
    // Another operator may change other overrides of the key at the same time.
    const row = rowNameOf(sets, name);
    // The row of an earlier version has the name of the limit.
    const earlier = after.has(name) ? undefined : before.get(name);
    return {
      before: [...listOf(before.get(row)), ...listOf(earlier)],
      after: listOf(after.get(row)),
    };
  }
  return { before: [...before.values()].filter(([row]) => !after.has(row)), after: [] };
}

function listOf(state: RowState | undefined): RowState[] {
  return state === undefined ? [] : [state];
}

/** The rows of a bucket, which a reset deletes; `undefined` for slots, whose holders nothing brings back. */
async function rowsOf(
  operator: Operator,
  name: string,
  key: string | undefined,
): Promise<StoredRow[] | undefined> {
  const { slotConfigs, resolve, context } = operator;
  if (slotConfigs.has(name)) return undefined;
  return storedRows(context, allRows(beneathAnswer(resolve(name, keyOption(key)))));
}

/** Whether the overrides are as a change has left them, so that to undo it undoes nothing else. */
export function isUnchanged(
  { name, before = [], after = [] }: Pick<LoggedChange, "name" | "before" | "after">,
  now: ReadonlyMap<string, RowState>,
): boolean {
  const left = new Map(after.map((state) => [state[0], state]));
  const names = [...before, ...after].map(([row]) => row);
  return names.every((row) => {
    const [was, is] = [left.get(row), now.get(row)].map((state) => state?.slice(0, 3));
    return limitNameOf({ name: row }) === name && isSame(was, is);
  });
}
