/**
 * Whether a recorded history is linearizable: whether some serial order explains every answer. The
 * history is checked part by part, each to its smallest contradiction.
 */
import { type Contradiction, shrink } from "./contradiction.js";
import { findOrder, type SearchOptions } from "./find-order.js";
import type { Operation } from "./operation.js";
import { partsOf } from "./parts.js";

export type Verdict =
  /** One serial order for each independent part. */
  { ok: true; orders: Operation[][] } | { ok: false; contradiction: Contradiction };

/** The search grew out of bounds: too many calls at once whose outcome nobody knows. */
export class UndecidedError extends Error {}

/**
 * @param capacity what each bucket holds at first, and at most.
 * @throws UndecidedError when nothing can be said.
 */
export function checkHistory(history: readonly Operation[], capacity: number): Verdict {
  const orders: Operation[][] = [];
  const contradictions: Contradiction[] = [];
  for (const { keys, operations } of partsOf(history)) {
    const options: SearchOptions = { keys, initial: keys.map(() => capacity), capacity };
    const found = findOrder(operations, options);
    if (found.kind === "undecided") {
      const what = `${operations.length} operations on ${keys.join(", ")}`;
      throw new UndecidedError(`no verdict on ${what}`);
    }
    if (found.kind === "explained") orders.push(found.order);
    else contradictions.push(shrink(operations, found.stuckAt, keys, capacity));
  }
  contradictions.sort((a, b) => a.operations.length - b.operations.length);
  const [contradiction] = contradictions;
  return contradiction === undefined ? { ok: true, orders } : { ok: false, contradiction };
}
