import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver, type RateLimitSnapshot } from "../../client/index.js";
import { sendLimited } from "../../client/react/send-limited.js";
import { createWaitingLine } from "../../client/react/waiting-line.js";
import { RateLimitError } from "../../core/errors.js";
import { DAY } from "../../server/index.js";

const NAME = "slow";
const WAIT = 60 * DAY;
const config = { kind: "token bucket", rate: 1, period: WAIT } as const;

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

/** Calls that wait for a limit of which everything is left. */
async function startWaiting() {
  const item = { name: NAME };
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    transport: {
      status: async ({ name }): Promise<RateLimitSnapshot> => {
        return { name, value: 1, ts: 0, config, now: Date.now() };
      },
      watch: () => () => {},
    },
  });
  observer.observe(item, 1, () => {});
  await vi.advanceTimersByTimeAsync(100);
  expect(observer.status(item, 1)?.ok).toBe(true);
  const line = createWaitingLine(observer, item, () => {});
  return (send: () => Promise<string>, count = 1) =>
    sendLimited(send, {
      observer,
      item,
      line,
      count,
      whenLimited: "wait",
      chargesErrors: false,
    });
}

it("a call with a count that is none does not keep later ones from being sent", async () => {
  const send = await startWaiting();
  await expect(send(async () => "never", NaN)).rejects.toThrow("count must be a finite number");
  await expect(send(async () => "sent")).resolves.toBe("sent");
});

it("a call waits calmly for longer than a timer can", async () => {
  const send = await startWaiting();
  let tries = 0;
  const sent = send(async () => {
    if (tries++ > 0) return "sent";
    throw new RateLimitError({
      kind: "RateLimited",
      name: NAME,
      retryAfter: WAIT,
      value: 0,
      config,
      now: Date.now(),
    });
  });
  await vi.advanceTimersByTimeAsync(0);
  const timers = vi.spyOn(globalThis, "setTimeout");
  await vi.advanceTimersByTimeAsync(100);
  expect(timers.mock.calls.length).toBeLessThan(10);
  timers.mockRestore();
  await vi.advanceTimersByTimeAsync(WAIT - 1000);
  expect(tries).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  await expect(sent).resolves.toBe("sent");
});
