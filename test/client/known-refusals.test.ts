import { expect, it } from "vitest";
import { createKnownRefusals } from "../../client/known-refusals.js";
import { createManualClock } from "../../core/testing.js";

const use = { name: "quick" };
const config = { kind: "token bucket", rate: 1, period: 300 } as const;

function startRefused(retryAfter = 300) {
  const clock = createManualClock();
  let slept = 0;
  const known = createKnownRefusals(new Set(), clock, () => clock() - slept);
  const now = clock() - 3_600_000;
  known.learn(use, { kind: "RateLimited", name: "quick", config, value: 0, retryAfter, now });
  return {
    clock,
    known,
    /** The monotonic clock stands still meanwhile. */
    sleep(ms: number) {
      slept += ms;
      clock.advance(ms);
    },
    waits: () => known.find(use, false)?.retryAfter,
  };
}

it("a refusal is known until its wait is over, by the server's clock or this machine's", () => {
  const { clock, known, waits } = startRefused();
  expect(waits()).toBe(300);
  clock.advance(299);
  expect(known.find(use, true)).toMatchObject({ retryAfter: 1, now: clock() - 3_600_000 });
  clock.advance(1);
  expect(waits()).toBeUndefined();
  expect(known.find({ name: "quick", key: "k" }, false)).toBeUndefined();
});

it("a call that was sent may have been charged as late as when it was answered", () => {
  const { clock, known, waits } = startRefused();
  clock.advance(300);
  const answered = known.took(use);
  clock.advance(40);
  expect(waits()).toBe(260);
  answered();
  expect(waits()).toBe(300);
  answered();
  expect(waits()).toBe(300);
});

it("a machine that sleeps does not put a wait off", () => {
  const { clock, sleep, waits } = startRefused(60_000);
  clock.advance(10_000);
  sleep(20_000);
  expect(waits()).toBe(30_000);
  sleep(30_000);
  expect(waits()).toBeUndefined();
});

it("clocks that come apart by a little make no wait shorter", () => {
  const { sleep, waits } = startRefused(60_000);
  sleep(5000);
  expect(waits()).toBe(60_000);
  // Nor does one that is put back make it longer.
  sleep(-3_600_000);
  expect(waits()).toBe(60_000);
});

it("a call that was sent and refused anew has nothing to say of what was learnt since", () => {
  const { clock, known, waits } = startRefused();
  const answered = known.took(use);
  const now = clock();
  known.learn(use, { kind: "RateLimited", name: "quick", config, value: 0, retryAfter: 200, now });
  answered();
  expect(waits()).toBe(200);
});

it("an answer to one call does not give back what the next one took", () => {
  const clock = createManualClock();
  const known = createKnownRefusals(new Set(), clock, clock);
  const facts = { config: { ...config, capacity: 5 }, value: 0, retryAfter: 300, now: clock() };
  known.learn(use, { kind: "RateLimited", name: "quick", ...facts });
  clock.advance(300);
  const answered = known.took(use);
  clock.advance(300);
  known.took(use);
  answered();
  expect(known.find(use, false)?.retryAfter).toBe(300);
});
