import { TRPCClientError } from "@trpc/client";
import { beforeEach, describe, expect, it } from "vitest";
import { isRateLimitError, MINUTE } from "../../../server/index.js";
import { startApp } from "../../support/app.js";

type App = Awaited<ReturnType<typeof startApp>>;

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it passed"),
    (error: unknown) => error as TRPCClientError<App["router"]>,
  );

describe("rateLimited", () => {
  let app: Awaited<ReturnType<typeof startApp>>;
  beforeEach(async () => {
    app = await startApp();
    return () => app[Symbol.asyncDispose]();
  });

  it("grants three of four quick calls, denies the fourth with the facts, and grants it later", async () => {
    const ada = app.as("ada");
    for (const remaining of [2, 1, 0]) {
      expect(await ada.send.mutate({ text: "hi" })).toEqual({ remaining, text: "hi" });
    }
    const error = await failureOf(ada.send.mutate({ text: "hi" }));
    expect(error).toBeInstanceOf(TRPCClientError);
    expect(error.message).toBe('Rate limit "sendMessage" exceeded. Try again in 6 seconds');
    expect(error.data).toMatchObject({ code: "TOO_MANY_REQUESTS", httpStatus: 429, path: "send" });
    expect(isRateLimitError(error) && error.data.rateLimit).toEqual({
      kind: "RateLimited",
      name: "sendMessage",
      retryAfter: 6000,
      value: 0,
      config: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
      now: app.clock(),
    });
    app.clock.advance(6000);
    expect(await ada.send.mutate({ text: "hi" })).toEqual({ remaining: 0, text: "hi" });
  });

  it("answers HTTP 429 to a client without tRPC", async () => {
    const post = () =>
      fetch(`${app.server.url}/send`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-user": "ada" },
        body: JSON.stringify({ text: "hi" }),
      });
    for (let i = 0; i < 3; i++) expect((await post()).status).toBe(200);
    const denied = await post();
    expect(denied.status).toBe(429);
    expect(await denied.json()).toMatchObject({
      error: { code: -32029, data: { rateLimit: { kind: "RateLimited", name: "sendMessage" } } },
    });
  });

  it("charges each call of one HTTP batch", async () => {
    const ada = app.as("ada");
    const calls = Array.from({ length: 5 }, () => ada.send.mutate({ text: "hi" }));
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual([
      ...Array<string>(3).fill("fulfilled"),
      ...Array<string>(2).fill("rejected"),
    ]);
    expect(
      settled.slice(3).every((call) => "reason" in call && isRateLimitError(call.reason)),
    ).toBe(true);
    expect(app.server.requests("send")).toBe(5);
  });

  it("keeps users apart", async () => {
    for (let i = 0; i < 3; i++) await app.as("ada").send.mutate({ text: "hi" });
    await expect(app.as("ada").send.mutate({ text: "hi" })).rejects.toThrow("exceeded");
    expect(await app.as("bob").send.mutate({ text: "hi" })).toMatchObject({ remaining: 2 });
  });

  it("computes count and key from the call", async () => {
    await app.as("ada").sendAll.mutate(["a", "b"]);
    expect(await app.as("ada").send.mutate({ text: "c" })).toMatchObject({ remaining: 0 });
    await app.as("ada").sendFor.mutate("another user");
    expect((await app.rows()).map(({ key, used }) => [key, used])).toEqual([
      ["ada", 3],
      ["another user", 1],
    ]);
  });

  it("answers 413 to a count that could never be granted, and 400 to a user without an id", async () => {
    const tooMany = await failureOf(app.as("ada").sendAll.mutate(["a", "b", "c", "d"]));
    expect(tooMany.data).toMatchObject({ code: "PAYLOAD_TOO_LARGE", httpStatus: 413 });
    const withoutId = await failureOf(app.as("").send.mutate({ text: "hi" }));
    expect(withoutId.data).toMatchObject({ code: "BAD_REQUEST", httpStatus: 400 });
    expect(withoutId.message).toContain("key must not be empty");
    expect(await app.rows()).toEqual([]);
  });

  it("turns a denial that the procedure itself throws into the same 429", async () => {
    const ada = app.as("ada");
    await ada.throwing.mutate();
    const error = await failureOf(ada.throwing.mutate());
    expect(error.data).toMatchObject({ code: "TOO_MANY_REQUESTS", httpStatus: 429 });
    expect(isRateLimitError(error) && error.data.rateLimit.retryAfter).toBe(18_000);
  });

  it("does not change errors that are not about limits", async () => {
    const error = await failureOf(app.as("ada").broken.mutate());
    expect(error.data).toMatchObject({ code: "CONFLICT", httpStatus: 409 });
    expect(error.data).not.toHaveProperty("rateLimit");
    expect(isRateLimitError(error)).toBe(false);
  });

  it("answers 503 without internals when the database fails", async () => {
    await app.prisma.$executeRaw`DROP TABLE "RateLimit"`;
    const error = await failureOf(app.as("ada").send.mutate({ text: "hi" }));
    expect(error.data).toMatchObject({ code: "SERVICE_UNAVAILABLE", httpStatus: 503 });
    expect(error.message).toBe("Rate limits cannot be checked right now");
  });
});
