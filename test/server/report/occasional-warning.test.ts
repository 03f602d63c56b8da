import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { MINUTE } from "../../../server/index.js";
import { createOccasionalWarning } from "../../../server/report/occasional-warning.js";

it("warns again after ten minutes, with the number of the others, and of each subject by itself", () => {
  const warnings: string[] = [];
  const clock = createManualClock();
  const logger = { warn: (message: string) => void warnings.push(message), error() {} };
  const warn = createOccasionalWarning(logger, clock);
  for (const subject of ["a", "a", "a", "b"]) warn(subject, `about ${subject}`);
  expect(warnings).toHaveLength(2);
  clock.advance(10 * MINUTE - 1);
  warn("a", "about a");
  expect(warnings).toHaveLength(2);
  clock.advance(1);
  warn("a", "about a");
  expect(warnings[2]).toContain("about a. ");
  expect(warnings[2]).toContain("3 more times");
  // Names of limits can come from calls, without end. The oldest are forgotten.
  for (let subject = 0; subject < 2000; subject++) warn(`${subject}`, "about many");
  warn("a", "about a");
  expect(warnings).toHaveLength(3 + 2000 + 1);
});
