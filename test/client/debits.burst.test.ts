/**
 * Several calls on their way at once: the shown value falls with each call when it is sent, and moves for
 * no other reason.
 */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { createRateLimitObserver, type RateLimitSnapshot } from "../../client/index.js";
import type { WatchHandlers } from "../../client/index.js";
import { cases } from "../support/cases.js";

const CONFIG = { kind: "token bucket", rate: 10, period: 1e9 } as const;
const item = { name: "send" };
/** As a server reads the changes of its own process. */
const COALESCE = 50;

const anyWay = fc.integer({ min: 0, max: 250 });
const anyTrip = fc.record({ there: anyWay, back: anyWay });
const anyBurst = fc.record({
  first: anyTrip,
  question: anyTrip,
  calls: fc.array(fc.record({ pause: anyWay, there: anyWay, back: anyWay }), {
    minLength: 1,
    maxLength: 6,
  }),
  reportDelay: anyWay,
  skew: fc.constantFrom(0, 3_600_000, -3_600_000),
  isLive: fc.boolean(),
});
type Burst = typeof anyBurst extends fc.Arbitrary<infer T> ? T : never;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns the figures that the page showed, each with what had been sent by then added to it. */
async function show(burst: Burst): Promise<number[]> {
  let value: number = CONFIG.rate;
  let sent = 0;
  let questions = 0;
  let handlers: WatchHandlers | undefined;
  let flush: ReturnType<typeof setTimeout> | undefined;
  const serverNow = () => Date.now() + burst.skew;
  const snapshot = (): RateLimitSnapshot => {
    const now = serverNow();
    return { ...item, value, ts: now, config: CONFIG, now };
  };
  const observer = createRateLimitObserver({
    clock: () => Date.now(),
    monotonic: () => Date.now(),
    live: burst.isLive ? "stream" : "off",
    transport: {
      async status() {
        const { there, back } = questions++ === 0 ? burst.first : burst.question;
        await sleep(there);
        const read = snapshot();
        await sleep(back);
        return read;
      },
      watch(_items, given) {
        handlers = given;
        given.onSnapshot(snapshot());
        return () => {};
      },
    },
  });
  const shown: number[] = [];
  const look = () => {
    const figure = Math.round(observer.check(item, Date.now(), 0)!.value) + sent;
    if (figure !== shown.at(-1)) shown.push(figure);
  };
  observer.observe(
    item,
    1,
    () => {},
    () => true,
  );
  await vi.advanceTimersByTimeAsync(1000);

  const change = () => {
    value--;
    flush ??= setTimeout(() => {
      flush = undefined;
      const read = snapshot();
      setTimeout(() => handlers?.onSnapshot(read), burst.reportDelay);
    }, COALESCE);
  };
  for (const { pause, there: own, back } of burst.calls) {
    // A question tells which call was charged, and a stream does not. So without one, calls that
    // overtake each other may be taken for each other until the next answer.
    const there = burst.isLive ? own : burst.calls[0]!.there;
    for (let ms = 0; ms < pause; ms += 5) {
      await vi.advanceTimersByTimeAsync(5);
      look();
    }
    const settle = observer.debit(item, 1);
    sent++;
    setTimeout(change, there);
    setTimeout(settle, there + back, true);
    look();
  }
  for (let ms = 0; ms < 5000; ms += 5) {
    await vi.advanceTimersByTimeAsync(5);
    look();
  }
  observer.close();
  await vi.advanceTimersByTimeAsync(60_000);
  return shown;
}

it("shows a burst of calls as they are sent, whatever comes when", async () => {
  vi.useFakeTimers({ now: 1e12 });
  try {
    await fc.assert(
      fc.asyncProperty(anyBurst, async (burst) => {
        expect(await show(burst)).toEqual([CONFIG.rate]);
      }),
      { numRuns: cases(100) },
    );
  } finally {
    vi.useRealTimers();
  }
});
