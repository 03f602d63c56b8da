/** Errors of the application that are similar to those of the package. */
import { TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import {
  MINUTE,
  RateLimitError,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../../server/index.js";
import { formatRateLimitError } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

class OwnError extends Error {
  constructor(
    readonly kind: string,
    readonly reason?: string,
  ) {
    super("an error of the application");
  }
}

/** The answer that a client receives from a procedure that throws this. */
async function answerOf(thrown: unknown) {
  const { t } = createLimitedTRPC({ send: { kind: "token bucket", rate: 1, period: MINUTE } });
  const router = t.router({
    throwing: t.procedure.query(() => {
      throw thrown;
    }),
  });
  await using server = await startServer(router, () => ({}));
  const response = await fetch(`${server.url}/throwing`);
  const { error } = (await response.json()) as { error: { message: string; data: object } };
  expect(error.data).not.toHaveProperty("rateLimit");
  return { status: response.status, message: error.message };
}

describe("an error of the application", () => {
  it.each([
    ["a failing store", new OwnError("StoreFailure")],
    ["a bad input", new OwnError("InvalidInput")],
    ["a count too large", new OwnError("InvalidInput", "unsatisfiable")],
    ["a denial", new OwnError("RateLimited")],
  ])("is not changed, although its kind is that of %s", async (_what, error) => {
    expect(await answerOf(error)).toEqual({ status: 500, message: error.message });
  });

  it.each(["no error", 7, null, undefined, { kind: "InvalidInput" }])(
    "is not changed if %j is thrown",
    async (thrown) => expect((await answerOf(thrown)).status).toBe(500),
  );

  it("hides the error that caused it", async () => {
    const cause = new TRPCError({ code: "CONFLICT", message: "an internal message" });
    const thrown = new TRPCError({ code: "FORBIDDEN", message: "no", cause });
    expect(await answerOf(thrown)).toEqual({ status: 403, message: "no" });
  });

  it("is not mistaken for an error of the package, which gets its own code", async () => {
    const codes = [
      new RateLimitInputError("key", "a bad key"),
      new RateLimitInputError("unsatisfiable", "too much"),
      new RateLimitStoreError("secret host name"),
    ].map(async (error) => answerOf(error));
    expect(await Promise.all(codes)).toEqual([
      { status: 400, message: "a bad key" },
      { status: 413, message: "too much" },
      { status: 503, message: "Rate limits cannot be checked right now" },
    ]);
  });

  it("is formatted as the same shape object", () => {
    const shape = { message: "m", code: -32600, data: { code: "BAD_REQUEST", httpStatus: 400 } };
    const error = new TRPCError({ code: "BAD_REQUEST", cause: new OwnError("StoreFailure") });
    expect(formatRateLimitError(shape as never, error)).toBe(shape);
  });
});

it("a denial that a procedure throws is formatted like one of the middleware", () => {
  const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;
  const facts = {
    kind: "RateLimited",
    name: "send",
    retryAfter: 5,
    value: 0,
    config,
    now: 0,
  } as const;
  const cause = new RateLimitError(facts);
  const shape = { message: "m", code: -32603, data: { code: "x", httpStatus: 500, path: "p" } };
  const error = new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause });
  expect(formatRateLimitError(shape as never, error)).toEqual({
    message: cause.message,
    code: -32029,
    data: { code: "TOO_MANY_REQUESTS", httpStatus: 429, path: "p", rateLimit: facts },
  });
});
