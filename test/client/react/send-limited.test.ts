import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver, type RateLimitSnapshot } from "../../../client/index.js";
import { sendLimited } from "../../../client/react/send-limited.js";
import type { WhenLimited } from "../../../client/types.js";
import { createHeldCalls } from "../../../client/react/held-calls.js";
import {
  type DenialMessage,
  RateLimitError,
  type RateLimitErrorData,
} from "../../../core/errors.js";
import { DAY } from "../../../server/index.js";

const NAME = "slow";
/** A timer can wait for less than 25 days. */
const WAIT = 26 * DAY;
const config = { kind: "token bucket", rate: 1, period: WAIT } as const;

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

/** Calls that wait for a full limit. */
async function startWaiting(denialMessage?: DenialMessage) {
  const item = { name: NAME };
  let asked = 0;
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    // The test passes days, so it must not poll every few seconds.
    pollInterval: DAY,
    transport: {
      status: async ({ name }): Promise<RateLimitSnapshot> => {
        asked++;
        await new Promise((resolve) => setTimeout(resolve, 10));
        return { name, value: 1, ts: 0, config, now: Date.now() };
      },
      watch: () => () => {},
    },
  });
  observer.observe(item, 1, () => {});
  await vi.advanceTimersByTimeAsync(100);
  expect(observer.status(item, 1)?.ok).toBe(true);
  const queue = createHeldCalls(observer, item, () => {});
  return {
    observer,
    item,
    asked: () => asked,
    send: (send: () => Promise<string>, count = 1, whenLimited: WhenLimited = "wait") =>
      sendLimited(send, { observer, item, queue, count, whenLimited, on: "call", denialMessage }),
  };
}

function denial(): RateLimitErrorData {
  const facts = { retryAfter: WAIT, value: 0, config, now: Date.now() };
  return { kind: "RateLimited", name: NAME, ...facts };
}

it("sends later calls after one with an invalid count", async () => {
  const { send } = await startWaiting();
  await expect(send(async () => "never", NaN)).rejects.toThrow("count must be a finite number");
  await expect(send(async () => "sent")).resolves.toBe("sent");
});

it.each([
  ["in words", undefined, 'Rate limit "slow" exceeded. Try again in 26 days'],
  ["in the application's own words", ({ name }: { name: string }) => `No ${name}`, "No slow"],
])("says %s when a call that it does not send would pass", async (_how, own, message) => {
  const { send } = await startWaiting(own);
  await send(async () => "sent");
  const kept = send(async () => "never", 1, "reject");
  await expect(kept).rejects.toMatchObject({ message, data: { rateLimit: { name: "slow" } } });
});

it("holds a call for longer than a timer can wait, without many timers", async () => {
  const { send } = await startWaiting();
  let tries = 0;
  const sent = send(async () => {
    if (tries++ > 0) return "sent";
    throw new RateLimitError(denial());
  });
  await vi.advanceTimersByTimeAsync(0);
  const timers = vi.spyOn(globalThis, "setTimeout");
  await vi.advanceTimersByTimeAsync(100);
  // A timer that is asked to wait longer than it can ends after 1 ms, so there would be 100.
  expect(timers.mock.calls.length).toBeLessThan(50);
  timers.mockRestore();
  await vi.advanceTimersByTimeAsync(WAIT - 1000);
  expect(tries).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  await expect(sent).resolves.toBe("sent");
});

it("treats a malformed denial like any other failure, and holds no call for it", async () => {
  const { observer, item, send } = await startWaiting();
  const { config: _, ...rateLimit } = denial();
  const senseless = Object.assign(new Error("senseless"), { data: { rateLimit } });
  const failed = send(() => Promise.reject(senseless));
  await expect(failed).rejects.toBe(senseless);
  await vi.advanceTimersByTimeAsync(100);
  expect(observer.status(item, 1)?.ok).toBe(true);
  await expect(send(async () => "sent")).resolves.toBe("sent");
});

it.each(["by itself", "through a link"])(
  "learns a denial %s, and asks for it once",
  async (how) => {
    const { observer, item, asked, send } = await startWaiting();
    const before = asked();
    const sent = send(
      async () => {
        const data = denial();
        if (how !== "by itself") observer.recordDenial(item, data);
        throw new RateLimitError(data);
      },
      1,
      "send",
    );
    await expect(sent).rejects.toThrow("exceeded");
    // At once, before any answer.
    expect(observer.status(item, 1)?.ok).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked()).toBe(before + 1);
  },
);
