/** Compares the errors of two runs of the compiler, and finds the edit that an error is from. */
import { diffArrays } from "diff";
import type { Change } from "../plan.js";
import type { TscError } from "./run-tsc.js";

/** An error, with the project in which the compiler reports it. */
export interface FoundError extends TscError {
  config: string;
}

/**
 * The errors that only the second run has. Positions do not count, because edits move lines. An error
 * whose message alone differs is an old one: it may show a type that has one more field now.
 */
export function newErrors(
  before: readonly FoundError[],
  after: readonly FoundError[],
): FoundError[] {
  const exact = ({ config, file, code, message }: FoundError) =>
    [config, file, code, message].join("\n");
  const alike = ({ config, file, code }: FoundError) => [config, file, code].join("\n");
  return without(without(after, before, exact), without(before, after, exact), alike);
}

/** The items without as many as the others have of the same key. */
function without(
  items: readonly FoundError[],
  others: readonly FoundError[],
  keyOf: (error: FoundError) => string,
): FoundError[] {
  const counts = new Map<string, number>();
  for (const each of others) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  return items.filter((each) => {
    const left = counts.get(keyOf(each)) ?? 0;
    counts.set(keyOf(each), left - 1);
    return left <= 0;
  });
}

/** Whether an edit has written the line of an error. */
export function isOnNewLine(change: Change | undefined, line: number): boolean {
  if (change === undefined) return false;
  const { before = "", after } = change;
  let next = 1;
  for (const part of diffArrays(before.split("\n"), after.split("\n"))) {
    if (part.removed) continue;
    if (line < next + part.count) return part.added;
    next += part.count;
  }
  return false;
}

/**
 * The changes from which an error may be, the likely ones first: the change of its own file, and then
 * changes that add names which the message quotes, or which stand in the line of the error.
 */
export function suspects(
  { file, message }: TscError,
  line: string,
  changes: readonly Change[],
): Change[] {
  const quoted = message.match(/'[^']*'/g) ?? [];
  const names = new Set([...quoted, line].join(" ").match(/[A-Za-z_$][\w$]*/g));
  const score = (change: Change) => {
    if (change.file === file) return Number.POSITIVE_INFINITY;
    return [...names].filter(
      (name) => countOf(change.after, name) > countOf(change.before ?? "", name),
    ).length;
  };
  return changes
    .map((change) => ({ change, points: score(change) }))
    .toSorted((a, b) => (a.points === b.points ? 0 : b.points - a.points))
    .map(({ change }) => change);
}

const countOf = (text: string, name: string) =>
  text.split(new RegExp(String.raw`(?<![\w$])${name.replaceAll("$", String.raw`\$`)}(?![\w$])`))
    .length;
