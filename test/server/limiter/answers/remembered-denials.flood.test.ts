/** `rememberDenials` in a flood: the calls that reach the database, and how much a process keeps. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  type BatchEvent,
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitResult,
} from "../../../../server/index.js";
import { MAX_REMEMBERED } from "../../../../server/limiter/answers/remembered-denials.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  window: { kind: "fixed window", rate: 1, period: HOUR, start: 0, rememberDenials: DAY },
  bucket: { kind: "token bucket", rate: 1, period: DAY, rememberDenials: DAY },
} as const;

const isRemembered = (result: RateLimitResult) => !result.ok && result.remembered === true;

/** Databases only: the memory store has no batches. */
describe.each(storesAndRedis.filter(([name]) => name !== "memory"))("on %s", (name, open) => {
  // SQLite writes to a disk, and all of them share a machine with other tests.
  const CALLERS = name === "PostgreSQL through pg" ? 10_000 : 1000;

  it("is asked once per key and period for a denial, however often hostile callers come", async () => {
    await using opened = await open();
    let asked = 0;
    const clock = createManualClock(Date.UTC(2030, 0, 1));
    const limiter = createRateLimiter({
      store: opened.store,
      clock,
      limits,
      timeout: MINUTE,
      onBatch: ({ calls }: BatchEvent) => void (asked += calls),
    });
    const keys = Array.from({ length: CALLERS }, (_, i) => `caller ${i}`);
    const all = () => Promise.all(keys.map((key) => limiter.limit("window", { key })));
    for (let period = 0; period < 2; period++) {
      expect((await all()).every(({ ok }) => ok)).toBe(true);
      asked = 0;
      expect((await all()).some(({ ok }) => ok)).toBe(false);
      // A statement that finds too few tokens, and a read for the answer.
      expect(asked).toBeLessThanOrEqual(2 * CALLERS);
      asked = 0;
      for (let i = 0; i < 5; i++) {
        clock.advance(MINUTE);
        expect((await all()).every(isRemembered)).toBe(true);
      }
      expect(asked).toBe(0);
      clock.set(Date.UTC(2030, 0, 1) + (period + 1) * HOUR);
    }
  });

  it("asks again after a denial is forgotten, and then no more, however many callers of a key there are", async () => {
    await using opened = await open();
    const events: BatchEvent[] = [];
    const limiter = createRateLimiter({
      store: opened.store,
      clock: createManualClock(),
      limits,
      timeout: MINUTE,
      onBatch: (event) => void events.push(event),
    });
    await limiter.limit("bucket");
    await limiter.limit("bucket");
    // All at once, because none of them knows the denial of another one yet.
    const callers = () => Promise.all(Array.from({ length: 1000 }, () => limiter.limit("bucket")));
    events.length = 0;
    for (let i = 0; i < 10; i++) expect((await callers()).every(isRemembered)).toBe(true);
    expect(events).toHaveLength(0);
    await limiter.charge("bucket");
    expect((await callers()).some(isRemembered)).toBe(false);
    events.length = 0;
    for (let i = 0; i < 10; i++) expect((await callers()).every(isRemembered)).toBe(true);
    expect(events).toHaveLength(0);
  });
});

it("keeps the newest denials of a flood, and asks again for the others", async () => {
  // So many that some are pushed out.
  const KEYS = MAX_REMEMBERED + 1000;
  const clock = createManualClock();
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits });
  for (let i = 0; i < KEYS; i++) {
    await limiter.limit("bucket", { key: `${i}` });
    expect((await limiter.limit("bucket", { key: `${i}` })).ok).toBe(false);
  }
  const known: string[] = [];
  // The newest first: what is asked for again is remembered, and pushes out another one.
  for (let i = KEYS - 1; i >= 0; i--) {
    if (isRemembered(await limiter.limit("bucket", { key: `${i}` }))) known.push(`${i}`);
  }
  const newest = Array.from({ length: MAX_REMEMBERED }, (_, i) => `${KEYS - 1 - i}`);
  expect(known).toEqual(newest);
});
