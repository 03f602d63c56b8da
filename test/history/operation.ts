/**
 * What a history is made of, and the serial bucket that it is held against. Time is frozen for the
 * limiters that are recorded, so nothing refills: a bucket is a counter that starts at its capacity,
 * and the answer to an operation is a function of the counters that it touches.
 */
export interface Item {
  key: string;
  /** Tokens taken or given back; 0 where the action takes none. */
  count: number;
}

/** What was said of one item: `value` is after a grant, or as it is after a denial. */
export interface ItemAnswer {
  ok: boolean;
  value: number;
}

export interface Operation {
  process: string;
  action: "limit" | "limitAll" | "reset" | "refund" | "getValue";
  /** On different keys. */
  items: readonly Item[];
  /** When it was called, ns of a clock that all processes share. */
  start: number;
  /** When it was answered. `Infinity`: it may take effect at any time from `start` on, or never. */
  end: number;
  /** One per item, none for a reset. `undefined`: any answer would do. */
  answer: readonly ItemAnswer[] | undefined;
}

/** What the operation does to, and says of, buckets that hold these `values`, one per item. */
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
    const left = value - items[i]!.count;
    return left >= 0 ? { ok: true, value: left } : { ok: false, value };
  });
  return { answer, next: isDenial(answer) ? values : answer.map(({ value }) => value) };
}

/** Whether its answer says that it changed nothing, whatever the state was. */
export function isRead({ action, answer }: Operation): boolean {
  return action === "getValue" || (answer !== undefined && isDenial(answer));
}

/** Whether the operation has to have taken effect, by its `end`. */
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
