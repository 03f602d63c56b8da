import { expect, it } from "vitest";
import { rateLimitErrorOf } from "../../../server/ai/index.js";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
} from "../../../server/index.js";

it("finds a denial as it is, in a retry, and as a cause", async () => {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { few: { kind: "token bucket", rate: 1, period: MINUTE } },
  });
  await limiter.limit("few");
  const denial = await limiter.limit("few", { throws: true }).catch((error: unknown) => error);
  const retry = Object.assign(new Error("tried again"), { lastError: denial, errors: [denial] });
  const noOutput = new Error("no output", { cause: retry });
  for (const error of [denial, retry, noOutput]) expect(rateLimitErrorOf(error)).toBe(denial);
});

it("finds none in other errors, and in what is no error", () => {
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  for (const error of [
    undefined,
    null,
    "denied",
    new Error("x"),
    new RateLimitStoreError("x"),
    circle,
  ]) {
    expect(rateLimitErrorOf(error)).toBeUndefined();
  }
});
