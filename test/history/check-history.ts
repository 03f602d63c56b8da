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

/**
 * @param capacity what each bucket holds at first, and at most.
 * @throws Error when the search grows out of bounds, so that nothing is known.
 */
export function checkHistory(history: readonly Operation[], capacity: number): Verdict {
  const orders: Operation[][] = [];
  const contradictions: Contradiction[] = [];
  for (const { keys, operations } of partsOf(history)) {
    const options: SearchOptions = { keys, initial: keys.map(() => capacity), capacity };
    const found = findOrder(operations, options);
    if (found.kind === "undecided") {
      throw new Error(`no verdict on ${operations.length} operations on ${keys.join(", ")}`);
    }
    if (found.kind === "explained") orders.push(found.order);
    else contradictions.push(shrink(operations, found.stuckAt, keys, capacity));
  }
  contradictions.sort((a, b) => a.operations.length - b.operations.length);
  const [contradiction] = contradictions;
  return contradiction === undefined ? { ok: true, orders } : { ok: false, contradiction };
}
