import { expect, it } from "vitest";
import { slugOf } from "../../site/slug.js";

it.each([
  ["retryAfter is true", "retryafter-is-true"],
  ["5. The page", "5-the-page"],
  ["`settle` and refund: what's back", "settle-and-refund-whats-back"],
])("gives %j the anchor that GitHub gives it", (heading, anchor) => {
  expect(slugOf(heading)).toBe(anchor);
});
