/**
 * Makes an inexplicable history small enough to read. Each step only takes constraints away, never
 * an effect: an operation whose answer does not matter becomes one that may have happened or not,
 * and what ended before a certain time becomes an arbitrary state. So what is left still proves that
 * the whole is wrong.
 */
import { findOrder, type State } from "./find-order.js";
import { isCertain, isRead, type Operation } from "./operation.js";
import { partsOf } from "./parts.js";

export interface Contradiction {
  operations: Operation[];
  /** Whether it needs the buckets to be full at first, or holds whatever they held. */
  from: "full" | "any";
  capacity: number;
}

/** Searches that grow larger than this count as explained, which keeps an operation. */
const MAX_CONFIGURATIONS = 300;

export function shrink(
  history: readonly Operation[],
  stuckAt: Operation,
  keys: readonly string[],
  capacity: number,
): Contradiction {
  const contradicts = (operations: readonly Operation[], from: Contradiction["from"]) => {
    const initials = from === "full" ? [keys.map(() => capacity)] : allStates(keys, capacity);
    return initials.every((initial) => {
      const options = { keys, initial, capacity, maxConfigurations: MAX_CONFIGURATIONS };
      return findOrder(operations, options).kind === "inexplicable";
    });
  };

  const untilStuck = history
    .filter(({ start }) => start <= stuckAt.end)
    .map((operation) => (operation.end > stuckAt.end ? release(operation) : operation));
  let { operations, from } = latestWindow(untilStuck, contradicts);
  for (const operation of operations) {
    if (!isCertain(operation)) continue;
    const weaker = [{ ...release(operation), answer: undefined }, release(operation)];
    for (const weak of weaker) {
      const weakened = operations.map((other) => (other === operation ? weak : other));
      if (!contradicts(weakened, from)) continue;
      operations = weakened;
      break;
    }
  }
  operations = operations.filter((operation) => isCertain(operation) || !isRead(operation));
  const part = partsOf(operations).find((each) => contradicts(each.operations, from));
  operations = (part?.operations ?? operations).toSorted((a, b) => a.start - b.start);
  return { operations, from, capacity };
}

/** It may have happened, with the answer it has, or not. */
function release(operation: Operation): Operation {
  return { ...operation, end: Infinity };
}

/** The last time after which a contradiction is left. The earlier the time, the more is left. */
function latestWindow(
  history: readonly Operation[],
  contradicts: (operations: readonly Operation[], from: Contradiction["from"]) => boolean,
): { operations: Operation[]; from: Contradiction["from"] } {
  const after = (time: number) =>
    history
      .filter(({ end }) => end >= time)
      .map((operation) => (operation.start < time ? release(operation) : operation))
      .filter((operation) => isCertain(operation) || !isRead(operation));
  const times = history.map(({ start }) => start).sort((a, b) => a - b);
  // Of the times up to `low` it is known that they leave one; from `high` on, that they do not.
  let low = -1;
  let high = times.length;
  for (let size = 1; low === -1 && high > 0; size *= 2) {
    const at = Math.max(0, times.length - size);
    if (contradicts(after(times[at]!), "any")) low = at;
    else high = at;
  }
  if (low === -1) return { operations: [...history], from: "full" };
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (contradicts(after(times[middle]!), "any")) low = middle;
    else high = middle;
  }
  return { operations: after(times[low]!), from: "any" };
}

function allStates(keys: readonly string[], capacity: number): State[] {
  const values = Array.from({ length: capacity + 1 }, (_, value) => value);
  return keys.reduce<State[]>(
    (states) => states.flatMap((state) => values.map((value) => [...state, value])),
    [[]],
  );
}

/** The contradiction as text, one line per operation, times in ms from the first of them. */
export function describeContradiction({ operations, from, capacity }: Contradiction): string {
  const zero = Math.min(...operations.map(({ start }) => start));
  const ms = (time: number) => ((time - zero) / 1e6).toFixed(3);
  const rows = operations.map(({ process, action, items, start, end, answer }) => {
    const wanted = items.map(({ key, count }) => (count > 0 ? `${key} ${count}` : key)).join(" + ");
    const said = answer?.map(({ ok, value }) => `${ok ? "" : "denied, "}${value}`).join(" + ");
    const when = end === Infinity ? "or later, or never" : ms(end);
    return [process, ms(start), when, `${action} ${wanted}`, said === "" ? "done" : (said ?? "?")];
  });
  const headings = ["process", "called", "answered", "operation", "tokens left"];
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`.trimEnd();
  const before = from === "full" ? "full at first" : "whatever they held before";
  return [
    `No serial order explains these answers, of buckets of ${capacity}, ${before}:`,
    ...[headings, ...rows].map(line),
  ].join("\n");
}
