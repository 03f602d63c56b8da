/** The statements of docs/calendars.md about billing dates. */
import { expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";

const on = (month: number, day: number) => Date.UTC(2027, month - 1, day);

/** The days on which a customer's windows begin, who spends all of each of them. */
async function daysOf(startAt: (now: number) => number): Promise<string[]> {
  const clock = createManualClock(on(1, 31));
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits: {} });
  const days: string[] = [];
  for (let i = 0; i < 4; i++) {
    const start = startAt(clock());
    const config = { kind: "fixed window", rate: 1, period: "month", start } as const;
    expect((await limiter.limit("plan", { key: "ada", config })).ok).toBe(true);
    const denied = await limiter.limit("plan", { key: "ada", config });
    clock.advance(denied.retryAfter!);
    days.push(new Date(clock()).toISOString().slice(5, 10));
  }
  return days;
}

it("keeps the day of a billing date that never moves", async () => {
  expect(await daysOf(() => on(1, 31))).toEqual(["02-28", "03-31", "04-30", "05-31"]);
});

it("drifts to the 28th with the start of the period that is current", async () => {
  const periods = [on(1, 31), on(2, 28), on(3, 31), on(4, 30), on(5, 31)];
  const drifting = await daysOf((now) => periods.findLast((start) => start <= now)!);
  expect(drifting).toEqual(["02-28", "03-28", "04-28", "05-28"]);
});
