import { expect, it } from "vitest";
import { createKnownRefusals } from "../../client/known-refusals.js";
import { createManualClock } from "../../core/testing.js";

const use = { name: "quick" };
const config = { kind: "token bucket", rate: 1, period: 300 } as const;

function startRefused() {
  const clock = createManualClock();
  const known = createKnownRefusals(new Set(), clock, clock);
  const now = clock() - 3_600_000;
  known.learn(use, { kind: "RateLimited", name: "quick", config, value: 0, retryAfter: 300, now });
  return { clock, known, waits: () => known.find(use, false)?.retryAfter };
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
