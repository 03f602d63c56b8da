import { expect, it } from "vitest";
import {
  RateLimitConfigError,
  RateLimitError,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../../core/errors.js";
import { statusOfError } from "../../../server/hosts/status-of-error.js";

const facts = {
  kind: "RateLimited",
  name: "few",
  retryAfter: 5,
  value: 0,
  config: { kind: "token bucket", rate: 1, period: 1000 },
  now: 7,
} as const;

it("answers a denial by 429, with its facts, also one of another copy of the package", () => {
  const denied = { kind: "denied", status: 429, code: "TOO_MANY_REQUESTS", rateLimit: facts };
  expect(statusOfError(new RateLimitError(facts))).toEqual(denied);
  expect(statusOfError({ data: { rateLimit: facts } })).toEqual(denied);
});

it.each([
  ["key", 400, "BAD_REQUEST"],
  ["no key", 400, "BAD_REQUEST"],
  ["name", 400, "BAD_REQUEST"],
  ["unsatisfiable", 413, "PAYLOAD_TOO_LARGE"],
] as const)("answers an input error about %s by %i", (reason, status, code) => {
  const error = new RateLimitInputError(reason, "wrong");
  expect(statusOfError(error)).toEqual({ kind: "input", status, code, reason });
});

it("answers a failure of the store by 503, and a bad config by 500", () => {
  const store = { kind: "store", status: 503, code: "SERVICE_UNAVAILABLE" };
  expect(statusOfError(new RateLimitStoreError("no connection"))).toEqual(store);
  expect(statusOfError({ name: "RateLimitStoreError" })).toEqual(store);
  const config = { kind: "config", status: 500, code: "INTERNAL_SERVER_ERROR" };
  expect(statusOfError(new RateLimitConfigError("rate", -1, "above 0"))).toEqual(config);
});

it.each([undefined, null, "text", new Error("other"), { kind: "RateLimited" }])(
  "leaves %o to the application",
  (error) => {
    expect(statusOfError(error)).toBeUndefined();
  },
);
