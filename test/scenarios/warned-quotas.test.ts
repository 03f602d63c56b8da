/**
 * The quotas of three applications, whose authors have written the warnings themselves: in some 140, 150
 * and 120 lines without the mails. What is left of each of them stands between its two comments.
 */
import { expect, it, vi } from "vitest";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, DAY, memoryStore, RateLimitError } from "../../server/index.js";

const START = Date.UTC(2030, 3, 12);

/** A busy machine may need longer than the second that is the default. */
const WAIT = { timeout: 10_000 };

it("an organisation's documents: a mail at 80 % and one when the quota is used up", async () => {
  const clock = createManualClock(START);
  const triggerJob = vi.fn();
  // Documents, mails and API calls of an organisation, per month and plan.
  const quota = { kind: "fixed window", period: "month", start: 0, warnAt: [0.8, 1] } as const;
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    plans: ["free", "team"],
    limits: {
      document: { ...quota, plans: { free: 5, team: 100 } },
      email: { ...quota, plans: { free: "none", team: "unlimited" } },
    },
  });
  limiter.onWarning(({ id, key, name, level, used, of }) => {
    // A batch that goes past both levels sends the second mail alone.
    if (level < 1 && used >= of) return;
    return triggerJob(id, {
      organisationId: key,
      counter: name,
      kind: level < 1 ? "near" : "used up",
    });
  });
  const checkMonthlyQuota = (key: string, plan: "free" | "team", count: number) =>
    limiter.limit("document", { key, plan, count, throws: true });
  // The end of the application's own code.
  for (let document = 0; document < 5; document++) await checkMonthlyQuota("one", "free", 1);
  await checkMonthlyQuota("two", "team", 100);
  await expect(checkMonthlyQuota("one", "free", 1)).rejects.toThrow(RateLimitError);
  await vi.waitUntil(() => triggerJob.mock.calls.length === 3, WAIT);
  expect(triggerJob.mock.calls.map(([, job]) => job as unknown)).toEqual([
    { organisationId: "one", counter: "document", kind: "near" },
    { organisationId: "one", counter: "document", kind: "used up" },
    { organisationId: "two", counter: "document", kind: "used up" },
  ]);
});

it("a workspace's clicks, which go on beyond the plan: an alert at its limit, and one later", async () => {
  const clock = createManualClock(START);
  const alerts: string[] = [];
  // Clicks are counted, and never refused; the billing date of a workspace begins its month.
  const clicks = { kind: "fixed window", period: "month", rate: 1000, warnAt: [1] } as const;
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: { clicks: { ...clicks, start: START } },
  });
  limiter.onWarning(({ key, used, of }) => void alerts.push(`${key}: ${used} of ${of}`));
  const clicked = (workspace: string, count: number) =>
    limiter.charge("clicks", { key: workspace, count });
  // The end of the application's own code.
  await clicked("acme", 900);
  await clicked("acme", 300);
  await clicked("acme", 300);
  await vi.waitUntil(() => alerts.length === 1, WAIT);
  clock.set(Date.UTC(2030, 4, 12));
  await clicked("acme", 10);
  clock.advance(DAY);
  await clicked("acme", 700);
  await vi.waitUntil(() => alerts.length === 2, WAIT);
  // What was used beyond the plan is owed in the next month.
  expect(alerts).toEqual(["acme: 1200 of 1000", "acme: 1210 of 1000"]);
});

it("a user's storage, which is freed again: claims of 80 % and 100 %, and again from the start", async () => {
  const clock = createManualClock(START);
  const mails: string[] = [];
  // Bytes that a user or an organisation stores, and frees. No time brings any back.
  const capacity = 5000;
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: {
      storage: {
        kind: "token bucket",
        rate: 1,
        period: 20 * 365 * DAY,
        capacity,
        warnAt: [0.8, 1],
      },
    },
  });
  limiter.onWarning(({ key, level }) => void mails.push(`${key}: ${level}`));
  const stored = (key: string, count: number) => limiter.limit("storage", { key, count });
  const freed = (key: string, count: number) => limiter.refund("storage", { key, count });
  // The end of the application's own code.
  await stored("ann", 4100);
  await Promise.all([stored("ann", 100), stored("ann", 100), stored("ann", 700)]);
  await freed("ann", 1000);
  await stored("ann", 1000);
  await vi.waitUntil(() => mails.length === 2, WAIT);
  await freed("ann", 4000);
  for (let file = 0; file < 4; file++) await stored("ann", 800);
  await vi.waitUntil(() => mails.length === 3, WAIT);
  expect(mails).toEqual(["ann: 0.8", "ann: 1", "ann: 0.8"]);
});
