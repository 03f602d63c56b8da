/**
 * Tells of the rows that decisions may have written, before their caller gets the answer. Also if they
 * fail, because the answer alone may have been lost.
 */
import type { Decision, RowId } from "../../store/store.js";
import type { Apply, Ask } from "./asked.js";

type Changed = (row: RowId) => void;

export function noted(changed: Changed): (next: Apply) => Apply {
  return (next) => (decisions) =>
    next(decisions).finally(() => decisions.forEach((each) => note(each, changed)));
}

export function notedOne(changed: Changed): (next: Ask) => Ask {
  return (next) => (call) => {
    const { decision } = call;
    next({
      decision,
      done(result) {
        note(decision, changed);
        call.done(result);
      },
      failed(error) {
        note(decision, changed);
        call.failed(error);
      },
    });
  };
}

function note({ readOnly, rows }: Decision<unknown>, changed: Changed): void {
  if (!readOnly) for (const row of rows) changed(row);
}
