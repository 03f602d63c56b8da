/**
 * Reduces a history that no serial order explains to a size that a person can read. Each step only
 * removes constraints and never an effect. So the remaining operations still prove that the history is
 * wrong.
 *
 * - An operation whose answer does not matter becomes one that may or may not have taken effect.
 * - The operations that ended before a certain time become an arbitrary initial state.
 */
import { findOrder, type State } from "./find-order.js";
import { isCertain, isRead, type Operation } from "./operation.js";
import { partsOf } from "./parts.js";

export interface Contradiction {
  operations: Operation[];
  /**
   * `full`: the contradiction assumes that the buckets are full at first. `any`: it assumes no initial
   * state.
   */
  from: "full" | "any";
  capacity: number;
}

/** A larger search counts as explained. The cost is an operation that could have been removed. */
const MAX_CONFIGURATIONS = 300;

export function shrink(
  history: readonly Operation[],
  failedAt: Operation,
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

  const untilFailure = history
    .filter(({ start }) => start <= failedAt.end)
    .map((operation) => (operation.end > failedAt.end ? makeUncertain(operation) : operation));
  let { operations, from } = latestWindow(untilFailure, contradicts);
  for (const operation of operations) {
    if (!isCertain(operation)) continue;
    const weaker = [{ ...makeUncertain(operation), answer: undefined }, makeUncertain(operation)];
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

/** The operation may then have taken effect, with the same answer, or not. */
function makeUncertain(operation: Operation): Operation {
  return { ...operation, end: Infinity };
}

/** The operations after the latest time that still contradict each other. */
function latestWindow(
  history: readonly Operation[],
  contradicts: (operations: readonly Operation[], from: Contradiction["from"]) => boolean,
): { operations: Operation[]; from: Contradiction["from"] } {
  const after = (time: number) =>
    history
      .filter(({ end }) => end >= time)
      .map((operation) => (operation.start < time ? makeUncertain(operation) : operation))
      .filter((operation) => isCertain(operation) || !isRead(operation));
  const times = history.map(({ start }) => start).sort((a, b) => a - b);
  // A contradiction remains for the times up to `low`. No contradiction remains from `high` on.
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

/** The contradiction as text: one line per operation, times in ms since the first call. */
export function describeContradiction({ operations, from, capacity }: Contradiction): string {
  const zero = Math.min(...operations.map(({ start }) => start));
  const ms = (time: number) => ((time - zero) / 1e6).toFixed(3);
  const rows = operations.map(({ process, action, items, start, end, answer }) => {
    const requested = items
      .map(({ key, count }) => (count > 0 ? `${key} ${count}` : key))
      .join(" + ");
    const outcome = answer?.map(({ ok, value }) => `${ok ? "" : "denied, "}${value}`).join(" + ");
    const answered = end === Infinity ? "later or never" : ms(end);
    return [
      process,
      ms(start),
      answered,
      `${action} ${requested}`,
      outcome === "" ? "done" : (outcome ?? "?"),
    ];
  });
  const headings = ["process", "called", "answered", "operation", "remaining"];
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`.trimEnd();
  const initially = from === "full" ? "full at first" : "with any initial value";
  return [
    `No serial order explains these answers. Buckets of ${capacity}, ${initially}:`,
    ...[headings, ...rows].map(line),
  ].join("\n");
}
