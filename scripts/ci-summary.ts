/**
 * The end of `.ci/run`: the seconds and tests of each step, the tests that were tried again, and, as
 * its last line, how many tests have passed and failed. Exits with 1 if something failed.
 *
 * `node --import tsx scripts/ci-summary.ts <steps> <results>`: a line for each step, its name, its
 * seconds, and `passed` or `failed` between tabs; and the lines of `results-reporter.ts`.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Results } from "./results-reporter.js";

/**
 * The most flaky tests of a run that still passes, because machines may be busy. A flaky test passes at
 * its second try.
 */
const MAX_RETRIED = 2;
/** The number of the slowest files that are named. */
const SLOWEST = 25;

export interface Step {
  name: string;
  seconds: number;
  hasFailed: boolean;
}

export function summarize(steps: readonly Step[], results: readonly Results[]) {
  const retried = results.flatMap((result) => result.retried);
  const failures = results.flatMap((result) => result.failures);
  const lines = [...tableOf(steps, results), "", ...slowestOf(results)];
  if (failures.length > 0) lines.push("Failed:", ...failures.map((test) => `  ${test}`), "");
  if (retried.length > 0) {
    lines.push(
      `Tried again (more than ${MAX_RETRIED} fail):`,
      ...retried.map((test) => `  ${test}`),
    );
    lines.push("");
  }
  const isFlaky = retried.length > MAX_RETRIED;
  // A step may fail without a failed test: a type error, or a run that was killed.
  const silent = steps.filter(({ name, hasFailed }) => {
    return hasFailed && sumOf(results, name).failed === 0;
  });
  const { passed, failed, skipped } = sumOf(results);
  const allFailed = failed + silent.length + Number(isFlaky);
  lines.push(`${passed} passed, ${allFailed} failed, ${skipped} skipped`);
  return { lines, hasFailed: allFailed > 0 || steps.some((step) => step.hasFailed) };
}

/** @param step adds up the results of this step. @default all steps */
function sumOf(results: readonly Results[], step?: string) {
  const chosen = results.filter((result) => step === undefined || result.step === step);
  const sum = (count: (result: Results) => number) =>
    chosen.reduce((total, result) => total + count(result), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
  };
}

function tableOf(steps: readonly Step[], results: readonly Results[]): string[] {
  const rows = steps.map(({ name, seconds, hasFailed }) => {
    const { passed, failed, skipped } = sumOf(results, name);
    const counts = [passed, failed, skipped].map((count) => (count === 0 ? "" : String(count)));
    return [name, String(seconds), ...counts, hasFailed ? "FAILED" : ""];
  });
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0);
  const all = [
    ["step", "seconds", "passed", "failed", "skipped", ""],
    ...rows,
    ["all", String(total), "", "", "", ""],
  ];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      // Names to the left, numbers to the right.
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
}

/** The slowest files, for a run that takes too long. */
function slowestOf(results: readonly Results[]): string[] {
  const timed = results.flatMap(({ step, files }) =>
    Object.entries(files).map(([name, seconds]) => ({ step, name, seconds })),
  );
  if (timed.length === 0) return [];
  const slowest = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  const lines = slowest.map(
    ({ step, name, seconds }) => `${String(seconds).padStart(5)} s  ${step}: ${name}`,
  );
  return ["The files that take longest:", ...lines, ""];
}

const linesOf = (path: string) =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [steps = "", results = ""] = process.argv.slice(2);
  const { lines, hasFailed } = summarize(
    linesOf(steps).map((line) => {
      const [name = "", seconds, result] = line.split("\t");
      return { name, seconds: Number(seconds), hasFailed: result !== "passed" };
    }),
    linesOf(results).map((line) => JSON.parse(line) as Results),
  );
  console.log(lines.join("\n"));
  process.exitCode = Number(hasFailed);
}
