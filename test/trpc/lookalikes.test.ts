/** Errors of the application's own that look a little like the package's. */
import { TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import {
  formatRateLimitError,
  MINUTE,
  RateLimitError,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../server/index.js";
import { startServer } from "../support/http.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";

class OwnError extends Error {
  constructor(
    readonly kind: string,
    readonly reason?: string,
  ) {
    super("of the application's own");
  }
}

/** What a client gets of a procedure that throws this. */
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

describe("an error of the application's own", () => {
  it.each([
    ["a failing store", new OwnError("StoreFailure")],
    ["a bad input", new OwnError("InvalidInput")],
    ["a count too large", new OwnError("InvalidInput", "unsatisfiable")],
    ["a denial", new OwnError("RateLimited")],
  ])("stays as it is, though it calls itself %s", async (_what, error) => {
    expect(await answerOf(error)).toEqual({ status: 500, message: error.message });
  });

  it.each(["no error", 7, null, undefined, { kind: "InvalidInput" }])(
    "stays as it is where %j is thrown",
    async (thrown) => expect((await answerOf(thrown)).status).toBe(500),
  );

  it("hides the one that caused it", async () => {
    const cause = new TRPCError({ code: "CONFLICT", message: "for nobody's eyes" });
    const thrown = new TRPCError({ code: "FORBIDDEN", message: "no", cause });
    expect(await answerOf(thrown)).toEqual({ status: 403, message: "no" });
  });

  it("is told from the package's own, which have codes", async () => {
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

  it("comes back as the very shape that the formatter was given", () => {
    const shape = { message: "m", code: -32600, data: { code: "BAD_REQUEST", httpStatus: 400 } };
    const error = new TRPCError({ code: "BAD_REQUEST", cause: new OwnError("StoreFailure") });
    expect(formatRateLimitError(shape as never, error)).toBe(shape);
  });
});

it("a denial that a procedure has thrown is formatted as the middleware's are", () => {
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
