/** Undoes what an operator has changed, as far as nobody has changed it again. */
import { TRPCError } from "@trpc/server";
import { keyOption } from "../../../core/key-option.js";
import type { LoggedChange } from "../../limiter/limits/overrides/change-log.js";
import type { Operator } from "../../limiter/parts/operator.js";
import { undoReset } from "../../limiter/verbs/reset.js";
import { type ActParts, changed } from "./actions.js";
import { badRequest } from "./admin-errors.js";
import type { AdminUndone } from "./router-types.js";
import { isUnchanged, logged } from "./log-action.js";

/** Whether the log knows enough of a change to undo it. */
export function isUndoable({ action, before, after, rows, undoes }: LoggedChange): boolean {
  if (undoes !== undefined) return false;
  if (action === "reset") return rows !== undefined && rows.length > 0;
  return before !== undefined && after !== undefined && before.length + after.length > 0;
}

/** @throws TRPCError `NOT_FOUND` where no such change is kept. */
export async function findChange(operator: Operator, id: string): Promise<LoggedChange> {
  const all = (await operator.overriding?.log.read()) ?? [];
  const found = all.find((each) => each.id === id);
  if (found === undefined) {
    throw new TRPCError({ code: "NOT_FOUND", message: "There is no such change any more" });
  }
  if (all.some(({ undoes }) => undoes === id)) throw changedSince("It has been undone already");
  return found;
}

/**
 * @param by the operator who undoes it, as `admin.actor` names them.
 * @throws TRPCError `CONFLICT` where the overrides were changed again since.
 */
export async function undo<TName extends string>(
  parts: ActParts,
  change: LoggedChange & { name: TName },
  by: string | undefined,
  why: string | undefined,
): Promise<AdminUndone<TName>> {
  const { operator } = parts;
  const { id, name, key } = change;
  if (!isUndoable(change)) throw badRequest("This change cannot be undone");
  const about = { action: "undo", name, key, by, why, undoes: id } as const;
  await logged(operator, about, undefined, () => takeBack(operator, change));
  const of = { name, ...keyOption(key), stored: true, why };
  return { name, ...(await changed(parts, "undo", of, by)) };
}

async function takeBack(operator: Operator, change: LoggedChange): Promise<void> {
  const { id, name, key, action, before = [], after = [], rows = [] } = change;
  // Each has written down what it does before it looks here. So of two, at most one goes on.
  const all = (await operator.overriding?.log.read()) ?? [];
  if (all.filter(({ undoes }) => undoes === id).length > 1) {
    throw changedSince("Somebody else undoes it at the same time. Look whether it was undone");
  }
  if (action === "reset") {
    return undoReset(operator.context, operator.resolve(name, keyOption(key)), rows);
  }
  const { overriding } = operator;
  if (!isUnchanged(change, await overriding!.statesOf(name, key))) {
    throw changedSince("It was changed again since, or has ended");
  }
  const was = new Map(before.map((state) => [state[0], state]));
  const names = [...before, ...after].map(([row]) => row);
  await overriding!.restore(name, key, new Map(names.map((row) => [row, was.get(row)])));
}

function changedSince(message: string): TRPCError {
  return new TRPCError({ code: "CONFLICT", message });
}
