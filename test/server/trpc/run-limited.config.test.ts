/** The errors for a client and for the server when the middleware's own `config` is wrong. */
import type { TRPCError } from "@trpc/server";
import { expect, it } from "vitest";
import { MINUTE, type RateLimitConfig } from "../../../server/index.js";
import { startServer } from "../../support/http.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

const send = { kind: "token bucket", rate: 5, period: MINUTE } as const;

/** The answers to calls whose `config` function returns this, and what the server's log gets. */
async function answersFor(returned: unknown) {
  const { limiter, t, rl } = createLimitedTRPC({ send, other: send });
  const config = () => returned as RateLimitConfig;
  const router = t.router({
    one: t.procedure.use(rl.rateLimited("send", { config })).mutation(() => true),
    both: t.procedure.use(rl.rateLimited(["other", "send"], { config })).mutation(() => true),
    inTransaction: t.procedure
      .use(rl.rateLimited.transaction("send", { config }))
      .mutation(() => true),
  });
  await using server = await startServer(router, () => ({}));
  const headers = { "content-type": "application/json" };
  const answers: { status: number; text: string; thrown: TRPCError }[] = [];
  for (const path of ["one", "both", "inTransaction"] as const) {
    const response = await fetch(`${server.url}/${path}`, { method: "POST", headers });
    const caller = router.createCaller({});
    const thrown = await caller[path]().then(
      () => expect.fail("it passed"),
      (error: unknown) => error as TRPCError,
    );
    answers.push({ status: response.status, text: await response.text(), thrown });
  }
  expect((await limiter.getValue("send")).value).toBe(5);
  return answers;
}

it.each([
  [
    "a rate below 0",
    { ...send, rate: -17 },
    "config.rate must be a finite number above 0, got -17",
  ],
  ["an option that does not exist", { ...send, secretPlan: 17 }, "config.secretPlan is not an"],
  ["a period of text", { ...send, period: "17 days" }, "config.period must be a whole number"],
  ["a name", "plan 17", 'config must be a rate limit config, got "plan 17"'],
])("%s is INTERNAL_SERVER_ERROR, without details for the client", async (_what, config, reason) => {
  for (const { status, text, thrown } of await answersFor(config)) {
    expect(status).toBe(500);
    const { error } = JSON.parse(text) as { error: { message: string; data: object } };
    expect(error.message).toBe("A rate limit of this request has no valid config");
    expect(error.data).toMatchObject({ code: "INTERNAL_SERVER_ERROR" });
    // The developer finds the reason on the server.
    expect(thrown).toMatchObject({ code: "INTERNAL_SERVER_ERROR", message: error.message });
    expect(thrown.cause).toMatchObject({ name: "RateLimitConfigError" });
    expect(thrown.cause!.message).toContain(reason);
    expect(JSON.stringify(error.data)).not.toContain(reason);
  }
});

it("a config with a block says to the developer alone that a transaction cannot have it", async () => {
  const { 2: inTransaction } = await answersFor({ ...send, rate: 1e-9, blockFor: MINUTE });
  expect(inTransaction!.text).not.toContain("blockFor");
  expect(inTransaction!.thrown.cause!.message).toContain("would be rolled back");
});
