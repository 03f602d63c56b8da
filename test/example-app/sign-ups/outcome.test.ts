/** The texts that a visitor reads about the sign-ups of one press. */
import { expect, it } from "vitest";
import { describe, oneTooMany } from "../../../example-app/sign-ups/outcome.js";

const RETRY_AT = new Date(2026, 10, 26, 14, 5).getTime();
const NONE = { made: [], denied: 0, retryAt: RETRY_AT, failed: 0 };

it.each([
  [{ ...NONE, made: ["Ada"] }, "“Ada” is signed up."],
  [{ ...NONE, made: ["a", "b"] }, "2 accounts are signed up."],
  [{ ...NONE, denied: 1 }, "The sign-up was denied until 14:05:00."],
  [{ ...NONE, denied: 4 }, "All 4 sign-ups were denied until 14:05:00."],
  [
    { ...NONE, made: ["a", "b"], denied: 1 },
    "2 accounts are signed up. One more was denied until 14:05:00.",
  ],
  [{ ...NONE, made: ["Ada"], denied: 2 }, "“Ada” is signed up. 2 more were denied until 14:05:00."],
])("says the right words for %o", (outcome, text) => {
  expect(describe(outcome)).toBe(text);
});

it.each([
  [0, "Try one more"],
  [1, "The last one, and one more"],
  [2, "All 2 left, and one more"],
  [100, "All 100 left, and one more"],
])("asks for one account too many when %i are left", (left, label) => {
  expect(oneTooMany(left)).toBe(label);
});
