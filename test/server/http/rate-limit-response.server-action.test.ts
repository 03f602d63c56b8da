/** A server action: an async function whose answer is serialised, and whose errors are not. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  isRateLimitError,
  memoryStore,
  MINUTE,
  type RateLimitErrorData,
} from "../../../server/index.js";

type Sent = { ok: true } | { ok: false; denied: RateLimitErrorData<"sendMessage"> };

it("returns a denial as typed data that survives serialisation", async () => {
  const clock = createManualClock();
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { sendMessage: { kind: "token bucket", rate: 1, period: MINUTE } },
    clock,
  });
  async function sendMessage(userId: string, text: string): Promise<Sent> {
    try {
      await limiter.limit("sendMessage", { key: userId, throws: true });
    } catch (error) {
      if (!isRateLimitError<"sendMessage">(error)) throw error;
      return { ok: false, denied: error.data.rateLimit };
    }
    if (text === "") throw new Error("empty");
    return { ok: true };
  }

  expect(await sendMessage("ada", "hello")).toEqual({ ok: true });
  const sent = await sendMessage("ada", "hello");
  expect(JSON.parse(JSON.stringify(sent))).toEqual(sent);
  expect(structuredClone(sent)).toEqual(sent);
  if (sent.ok) expect.fail("the second call was granted");
  expect(sent.denied).toMatchObject({ name: "sendMessage", retryAfter: MINUTE, now: clock() });
  clock.advance(sent.denied.retryAfter);
  expect(await sendMessage("ada", "hello")).toEqual({ ok: true });
  await expect(sendMessage("bob", "")).rejects.toThrow("empty");
  await expect(sendMessage("", "hello")).rejects.toThrow("key must not be empty");
});
