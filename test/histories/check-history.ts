/**
 * Checks whether a recorded history is linearizable, that is, whether some serial order explains
 * every answer. Each independent part is checked alone and reduced to its smallest contradiction.
 */
import { type Contradiction, shrink } from "./contradiction.js";
import { findOrder, type SearchOptions } from "./find-order.js";
import type { Operation } from "./operation.js";
import { partsOf } from "./parts.js";

export type Verdict =
  /** One serial order for each independent part. */
  { ok: true; orders: Operation[][] } | { ok: false; contradiction: Contradiction };

/** The search reached its bound, because too many calls at once have an unknown outcome. */
export class UndecidedError extends Error {}

/**
 * @param capacity what each bucket holds at first, and at most.
 * @throws UndecidedError if the search reaches its bound.
 */
export function checkHistory(history: readonly Operation[], capacity: number): Verdict {
  const orders: Operation[][] = [];
  const contradictions: Contradiction[] = [];
  for (const { keys, operations } of partsOf(history)) {
    const options: SearchOptions = { keys, initial: keys.map(() => capacity), capacity };
    const found = findOrder(operations, options);
    if (found.kind === "undecided") {
      const part = `${operations.length} operations on ${keys.join(", ")}`;
      throw new UndecidedError(`the search gave up on ${part}: record a shorter history`);
    }
    if (found.kind === "explained") orders.push(found.order);
    else contradictions.push(shrink(operations, found.failedAt, keys, capacity));
  }
  contradictions.sort((a, b) => a.operations.length - b.operations.length);
  const [contradiction] = contradictions;
  return contradiction === undefined ? { ok: true, orders } : { ok: false, contradiction };
}
