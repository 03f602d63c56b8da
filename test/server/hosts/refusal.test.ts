/** Why a request was not let through, by its error. */
import { expect, it } from "vitest";
import {
  RateLimitConfigError,
  RateLimitError,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../../core/errors.js";
import { refusalOf } from "../../../server/hosts/refusal.js";

const facts = {
  kind: "RateLimited",
  name: "few",
  retryAfter: 5,
  value: 0,
  config: { kind: "token bucket", rate: 1, period: 1000 },
  now: 7,
} as const;

it("has the facts of a denial, and its error", () => {
  const error = new RateLimitError(facts);
  expect(refusalOf(error)).toEqual({ reason: "denied", rateLimit: facts, error });
});

it.each([
  ["no key", "no key"],
  ["key", "invalid input"],
  ["count", "invalid input"],
  ["once", "invalid input"],
  ["unsatisfiable", "invalid input"],
] as const)("says of an input error about %s: %s", (of, reason) => {
  const error = new RateLimitInputError(of, "wrong");
  expect(refusalOf(error)).toEqual({ reason, error });
});

it("says that the store has failed", () => {
  const error = new RateLimitStoreError("no connection");
  expect(refusalOf(error)).toEqual({ reason: "store failure", error });
});

it.each([
  new RateLimitInputError("name", "unknown"),
  new RateLimitInputError("result", "not one"),
  new RateLimitConfigError("rate", -1, "above 0"),
  new Error("the application's own"),
])("leaves %s to the application", (error) => {
  expect(refusalOf(error)).toBeUndefined();
});
