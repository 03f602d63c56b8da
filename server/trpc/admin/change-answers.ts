/** The answers about what operators have changed: the overrides of all keys, the log, and `undo`. */
import { keyOption } from "../../../core/key-option.js";
import type { LoggedChange, RowState } from "../../limiter/limits/overrides/change-log.js";
import { overrideOf } from "../../limiter/limits/overrides/override-rule.js";
import { type AdminCall, type AdminParts, known, viewed } from "./admin-answers.js";
import { badRequest } from "./admin-errors.js";
import type { AdminAction } from "./admin-types.js";
import type {
  AdminChangeEntry,
  AdminChanges,
  AdminOverrides,
  AdminOverrideState,
} from "./change-types.js";
import { refusal } from "./guard.js";
import type {
  AdminChangesInput,
  AdminOverridesInput,
  AdminUndoInput,
  AdminUndone,
} from "./router-types.js";
import { DEFAULT_ITEMS } from "./schemas.js";
import { storedKeyOf } from "./stored-key-of.js";
import { findChange, isUndoable, undo } from "./undo.js";

export async function answerOverrides<TName extends string>(
  parts: AdminParts<TName>,
  { ctx, input: { name, count = DEFAULT_ITEMS } = {} }: AdminCall<AdminOverridesInput | undefined>,
): Promise<AdminOverrides<TName>> {
  const { operator } = parts;
  const shown = await viewed(parts, ctx, name);
  const all = (await operator.overriding?.allNow()) ?? [];
  const own = all.filter((each) => shown.includes(each.name as TName));
  const end = ({ until = Infinity }: { until?: number | undefined }) => until;
  // Those without an end last, the newest of them first.
  const sorted = own.toSorted((a, b) =>
    end(a) === end(b) ? b.setAt - a.setAt : end(a) < end(b) ? -1 : 1,
  );
  const items = sorted.slice(0, count) as AdminOverrides<TName>["items"];
  return { now: operator.clock(), items, total: own.length };
}

export async function answerChanges<TName extends string>(
  parts: AdminParts<TName>,
  { ctx, input = {} }: AdminCall<AdminChangesInput | undefined>,
): Promise<AdminChanges<TName>> {
  const { operator, guard } = parts;
  const { overriding, clock } = operator;
  const { name, key, before = Infinity, count = DEFAULT_ITEMS } = input;
  const shown = await viewed(parts, ctx, name, key);
  const all = (await overriding?.log.read()) ?? [];
  const undone = new Map(all.flatMap(({ id, undoes }) => (undoes ? [[undoes, id]] : [])));
  const stored = key === undefined ? undefined : storedKeyOf(operator, input);
  const found = all
    .filter((each) => shown.includes(each.name as TName) && each.at < before)
    .filter((each) => key === undefined || each.key === stored)
    .slice(0, count);
  const items = found.map(async (change) => {
    const { name: of, key: its, action } = change;
    const about = { name: of as TName, key: its, all: its === undefined };
    const canUndo =
      isUndoable(change) &&
      !undone.has(change.id) &&
      (await guard.allows(ctx, action as AdminAction, about));
    return shownChange<TName>(change, undone.get(change.id), canUndo);
  });
  return { now: clock(), kept: overriding !== undefined, items: await Promise.all(items) };
}

export async function answerUndo<TName extends string>(
  parts: AdminParts<TName>,
  { ctx, input: { id, why } }: AdminCall<AdminUndoInput>,
): Promise<AdminUndone<TName>> {
  const change = await findChange(parts.operator, id);
  const name = known(parts.names, change.name);
  const { key } = change;
  // The application is asked about actions of its operators, of which `undo` is none.
  if (change.undoes !== undefined) throw badRequest("An undo cannot be undone");
  const action = change.action as AdminAction;
  // What is undone is as much of a change as what was done.
  if (!(await parts.guard.allows(ctx, action, { name, key, all: key === undefined }))) {
    throw refusal(action);
  }
  return undo(parts, { ...change, name }, parts.actorOf(ctx), why);
}

function shownChange<TName extends string>(
  { id, at, action, name, key, by, why, before, after, undoes }: LoggedChange,
  undoneBy: string | undefined,
  canUndo: boolean,
): AdminChangeEntry<TName> {
  return {
    id,
    at,
    action,
    name: name as TName,
    ...keyOption(key),
    ...(by !== undefined && { by }),
    ...(why !== undefined && { why }),
    before: statesOf(before),
    after: statesOf(after),
    ...(undoneBy !== undefined && { undoneBy }),
    ...(undoes !== undefined && { undoes }),
    canUndo,
  };
}

function statesOf(states: readonly RowState[] = []): AdminOverrideState[] {
  return states.flatMap(([name, rule, until]) => {
    const override = overrideOf({ name, key: "", rule, until, setAt: 0 });
    if (override === undefined) return [];
    const { name: _, key: __, setAt: ___, ...state } = override;
    return [state];
  });
}
