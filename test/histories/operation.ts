/**
 * The operations of a history, and the serial model of a bucket. Time is frozen for the recorded
 * limiters, so nothing refills. A bucket is a counter that starts at its capacity. The answer to an
 * operation depends only on the counters of its items.
 */
export interface Item {
  key: string;
  /** The tokens to take or refund. 0 for the other actions. */
  count: number;
}

/** The answer for one item. `value` is what remains after the operation. */
export interface ItemAnswer {
  ok: boolean;
  value: number;
}

export interface Operation {
  process: string;
  action: "limit" | "limitAll" | "reset" | "refund" | "getValue";
  /** The keys of the items are different. */
  items: readonly Item[];
  /** The time of the call, ns of a clock that all processes share. */
  start: number;
  /** The time of the answer. `Infinity`: it takes effect at any time after `start`, or never. */
  end: number;
  /** One answer per item, none for a reset. `undefined`: any answer is possible. */
  answer: readonly ItemAnswer[] | undefined;
}

/** The answer and the next values of an operation on buckets with these `values`, one per item. */
export function applyTo(
  values: readonly number[],
  { action, items }: Pick<Operation, "action" | "items">,
  capacity: number,
): { answer: ItemAnswer[]; next: readonly number[] } {
  if (action === "reset") return { answer: [], next: values.map(() => capacity) };
  if (action === "getValue") {
    return { answer: values.map((value) => ({ ok: true, value })), next: values };
  }
  if (action === "refund") {
    const next = values.map((value, i) => Math.min(value + items[i]!.count, capacity));
    return { answer: next.map((value) => ({ ok: true, value })), next };
  }
  const answer = values.map((value, i) => {
    const remaining = value - items[i]!.count;
    return remaining >= 0 ? { ok: true, value: remaining } : { ok: false, value };
  });
  return { answer, next: isDenial(answer) ? values : answer.map(({ value }) => value) };
}

/** Whether the operation changed nothing, on any state. */
export function isRead({ action, answer }: Operation): boolean {
  return action === "getValue" || (answer !== undefined && isDenial(answer));
}

/** Whether the operation certainly took effect, before its `end`. */
export function isCertain({ end }: Operation): boolean {
  return end !== Infinity;
}

export function sameAnswer(a: readonly ItemAnswer[], b: readonly ItemAnswer[]): boolean {
  return (
    a.length === b.length && a.every(({ ok, value }, i) => ok === b[i]!.ok && value === b[i]!.value)
  );
}

function isDenial(answer: readonly ItemAnswer[]): boolean {
  return answer.some(({ ok }) => !ok);
}
