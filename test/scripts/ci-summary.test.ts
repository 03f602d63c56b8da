import { expect, it } from "vitest";
import { type Step, summarize } from "../../scripts/ci-summary.js";

const step = (name: string, seconds: number, hasFailed = false): Step => {
  return { name, seconds, hasFailed };
};
const none: string[] = [];
const nothing = { failed: 0, failures: none, retried: none, files: {} };
const results = { step: "npm test", passed: 5000, skipped: 3, ...nothing };
const flaky = (count: number) => Array.from({ length: count }, (_, i) => `a.test.ts > test ${i}`);

it("shows what each step took and found, and adds it up in the last line", () => {
  const steps = [step("npm ci", 23), step("npm test", 120), step("drivers", 7, true)];
  const failures = ["a.test.ts > one", "b.test.ts"];
  const files = { "b.test.ts": 6, "a.test.ts": 30 };
  const found = { passed: 10, skipped: 0, failed: 2, failures };
  const drivers = { step: "drivers", ...found, retried: [], files };
  expect(summarize(steps, [results, drivers])).toEqual({
    lines: [
      "step      seconds  passed  failed  skipped",
      "npm ci         23",
      "npm test      120    5000                3",
      "drivers         7      10       2           FAILED",
      "all           150",
      "",
      "The files that take longest:",
      "   30 s  drivers: a.test.ts",
      "    6 s  drivers: b.test.ts",
      "",
      "Failed:",
      "  a.test.ts > one",
      "  b.test.ts",
      "",
      "5010 passed, 2 failed, 3 skipped",
    ],
    hasFailed: true,
  });
});

it("adds the runs of one step", () => {
  const { lines } = summarize([step("npm test", 1)], [results, results]);
  expect(lines.at(-1)).toBe("10000 passed, 0 failed, 6 skipped");
});

it("counts a step that fails without a failed test, such as a type error", () => {
  const { lines, hasFailed } = summarize([step("check", 50, true)], [results]);
  expect([lines.at(-1), hasFailed]).toEqual(["5000 passed, 1 failed, 3 skipped", true]);
});

it("names the tests that were tried again, and fails for more than two", () => {
  const two = summarize([step("npm test", 1)], [{ ...results, retried: flaky(2) }]);
  expect(two.lines).toContain("  a.test.ts > test 1");
  expect([two.lines.at(-1), two.hasFailed]).toEqual(["5000 passed, 0 failed, 3 skipped", false]);
  // Over all steps.
  const apart = [flaky(2), flaky(1)].map((retried) => ({ ...results, retried }));
  const three = summarize([step("npm test", 1)], apart);
  expect([three.lines.at(-1), three.hasFailed]).toEqual([
    "10000 passed, 1 failed, 6 skipped",
    true,
  ]);
});
