/**
 * Appends the results of a run of Vitest to the file that TEST_RESULTS names, one line of JSON per run.
 * `.ci/run` adds the lines up with `scripts/ci-summary.ts`.
 */
import { appendFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export interface Results {
  /** The step of `.ci/run`. */
  step: string;
  passed: number;
  failed: number;
  skipped: number;
  /** The failures: tests, files that fail without a failed test, and errors that no test has caught. */
  failures: string[];
  /** The tests that were tried again, whether they then passed or not. */
  retried: string[];
  /** How long each file took, s. Files run beside each other. */
  files: Record<string, number>;
}

export default class ResultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const { TEST_RESULTS: file, TEST_STEP: step = "" } = process.env;
    if (file === undefined) return;
    // An error that no test has caught fails the run.
    const failures = unhandledErrors.map((error) => `no test: ${messageOf(error)}`);
    const results: Results = {
      step,
      passed: 0,
      failed: failures.length,
      skipped: 0,
      failures,
      retried: [],
      files: {},
    };
    for (const module of modules) add(results, module);
    appendFileSync(file, `${JSON.stringify(results)}\n`);
  }
}

function messageOf(error: unknown): string {
  return String((error as { message?: unknown } | null)?.message ?? error);
}

function add(results: Results, module: TestModule): void {
  const name = module.relativeModuleId;
  results.files[name] = Math.round(module.diagnostic().duration / 1000);
  const failures: string[] = [];
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === "passed") results.passed++;
    else if (state === "failed") failures.push(`${name} > ${test.fullName}`);
    else results.skipped++;
    if ((test.diagnostic()?.retryCount ?? 0) > 0) {
      results.retried.push(`${name} > ${test.fullName}`);
    }
  }
  // A file that cannot be loaded, or with a hook that fails, has no failed test: count the file.
  if (module.state() === "failed" && failures.length === 0) failures.push(name);
  results.failed += failures.length;
  results.failures.push(...failures);
}
