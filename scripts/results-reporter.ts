/**
 * Appends what a run of Vitest has found to the file that TEST_RESULTS names, a line of JSON a run.
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
  /** The tests that were tried again, whether they then passed or not. */
  retried: string[];
}

export default class ResultsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const { TEST_RESULTS: file, TEST_STEP: step = "" } = process.env;
    if (file === undefined) return;
    // An error that no test has caught fails the run.
    const results: Results = {
      step,
      passed: 0,
      failed: unhandledErrors.length,
      skipped: 0,
      retried: [],
    };
    for (const module of modules) add(results, module);
    appendFileSync(file, `${JSON.stringify(results)}\n`);
  }
}

function add(results: Results, module: TestModule): void {
  let failed = 0;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === "passed") results.passed++;
    else if (state === "failed") failed++;
    else results.skipped++;
    if ((test.diagnostic()?.retryCount ?? 0) > 0) {
      results.retried.push(`${module.relativeModuleId} > ${test.fullName}`);
    }
  }
  // A file that cannot be loaded, or whose hook fails, has no test that failed.
  results.failed += module.state() === "failed" ? Math.max(failed, 1) : failed;
}
