import { expect, it } from "vitest";
import { createKnownDenials } from "../../client/known-denials.js";
import { createManualClock } from "../../core/testing.js";

const use = { name: "quick" };
const config = { kind: "token bucket", rate: 1, period: 300 } as const;

function startDenied(retryAfter = 300) {
  const clock = createManualClock();
  let slept = 0;
  const known = createKnownDenials(new Set(), clock, () => clock() - slept);
  const now = clock() - 3_600_000;
  known.learn(use, { kind: "RateLimited", name: "quick", config, value: 0, retryAfter, now });
  return {
    clock,
    known,
    /** Advances the wall clock; the monotonic clock stands still. */
    sleep(ms: number) {
      slept += ms;
      clock.advance(ms);
    },
    waits: () => known.find(use, false)?.retryAfter,
  };
}

it("knows a denial until its wait is over, by the server's clock or this machine's", () => {
  const { clock, known, waits } = startDenied();
  expect(waits()).toBe(300);
  clock.advance(299);
  expect(known.find(use, true)).toMatchObject({ retryAfter: 1, now: clock() - 3_600_000 });
  clock.advance(1);
  expect(waits()).toBeUndefined();
  expect(known.find({ name: "quick", key: "k" }, false)).toBeUndefined();
});

it("assumes that a call was charged as late as its answer", () => {
  const { clock, known, waits } = startDenied();
  clock.advance(300);
  const answered = known.recordSend(use);
  clock.advance(40);
  expect(waits()).toBe(260);
  answered();
  expect(waits()).toBe(300);
  answered();
  expect(waits()).toBe(300);
});

it("does not extend a wait because the machine slept", () => {
  const { clock, sleep, waits } = startDenied(60_000);
  clock.advance(10_000);
  sleep(20_000);
  expect(waits()).toBe(30_000);
  sleep(30_000);
  expect(waits()).toBeUndefined();
});

it("does not shorten a wait because the clocks drift a little", () => {
  const { sleep, waits } = startDenied(60_000);
  sleep(5000);
  expect(waits()).toBe(60_000);
  // A clock that is put back does not make it longer.
  sleep(-3_600_000);
  expect(waits()).toBe(60_000);
});

it("keeps a newer denial when an older call is answered", () => {
  const { clock, known, waits } = startDenied();
  const answered = known.recordSend(use);
  const now = clock();
  known.learn(use, { kind: "RateLimited", name: "quick", config, value: 0, retryAfter: 200, now });
  answered();
  expect(waits()).toBe(200);
});

it("does not give back the next call's tokens when a call is answered", () => {
  const clock = createManualClock();
  const known = createKnownDenials(new Set(), clock, clock);
  const facts = { config: { ...config, capacity: 5 }, value: 0, retryAfter: 300, now: clock() };
  known.learn(use, { kind: "RateLimited", name: "quick", ...facts });
  clock.advance(300);
  const answered = known.recordSend(use);
  clock.advance(300);
  known.recordSend(use);
  answered();
  expect(known.find(use, false)?.retryAfter).toBe(300);
});
