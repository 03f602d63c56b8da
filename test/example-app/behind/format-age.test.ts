import { DAY, HOUR, MINUTE, SECOND } from "trpc-rate-limit";
import { expect, it } from "vitest";
import { formatAge } from "../../../example-app/behind/format-age.js";

it.each([
  // The clock of the database may be a little ahead.
  [-5, "0 s ago"],
  [999, "0 s ago"],
  [MINUTE - 1, "59 s ago"],
  [MINUTE, "1 min ago"],
  [HOUR - SECOND, "59 min ago"],
  [HOUR, "1 h ago"],
  [2 * DAY - SECOND, "47 h ago"],
  [2 * DAY, "2 d ago"],
  [589 * HOUR, "24 d ago"],
])("says of %i ms that it is %s", (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});
