/** When a bucket is full, and when the next window begins. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readingOf, refill } from "../../core/calculate.js";
import { capacityOf, MAX_RETRY_AFTER, mostUsed, toleranceOf } from "../../core/config.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { resetAt } from "../../core/index.js";
import { heldAt, tokensOf } from "../../core/rows/reading.js";
import { windowAt } from "../../core/windows.js";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";
import { cases } from "../support/cases.js";
import { anyCall } from "./arbitraries.js";

const at = Date.UTC(2030, 0, 1);
const bucket = { kind: "token bucket", rate: 6, period: MINUTE } as const;
const hourly = { kind: "fixed window", rate: 3, period: HOUR, start: 0 } as const;

describe("a token bucket is full", () => {
  it.each([
    { left: "all tokens", value: 6, after: 0 },
    { left: "more than it holds, as after a change of plan", value: 9, after: 0 },
    { left: "all but one", value: 5, after: 10 * SECOND },
    { left: "a third", value: 2, after: 40 * SECOND },
    { left: "half a token", value: 0.5, after: 55 * SECOND },
    { left: "none", value: 0, after: MINUTE },
    { left: "a debt", value: -3, after: 90 * SECOND },
  ])("$after ms after it had $left", ({ value, after }) => {
    expect(resetAt({ value, ts: at, config: bucket })).toBe(at + after);
    expect(resetAt({ value, now: at, config: bucket })).toBe(at + after);
    // A row says what was left at its own instant.
    expect(resetAt({ value, ts: at, now: at + HOUR, config: bucket })).toBe(at + after);
  });

  it("when it holds its capacity, and not its rate", () => {
    const config = { ...bucket, capacity: 12 };
    expect(resetAt({ value: 6, ts: at, config })).toBe(at + MINUTE);
  });
});

describe("a window begins again", () => {
  it.each([
    { value: 3, now: at },
    { value: 0, now: at + HOUR - 1 },
    { value: -5, now: at + 1 },
  ])("at its end, whatever is left of it ($value)", ({ value, now }) => {
    expect(resetAt({ value, ts: at, now, config: hourly })).toBe(at + HOUR);
    expect(resetAt({ value, now, config: hourly })).toBe(at + HOUR);
  });

  it("at the end of the present window, for a row of an earlier one", () => {
    const now = at + 5 * HOUR + 1;
    expect(resetAt({ value: 0, ts: at, now, config: hourly })).toBe(at + 6 * HOUR);
  });

  it("by the windows of the row, where those of the config have moved", () => {
    const ts = at + 7 * MINUTE;
    expect(resetAt({ value: 0, ts, now: ts + HOUR, config: hourly })).toBe(ts + 2 * HOUR);
  });

  it("with a month, and with the day of a time zone, which may have 23 hours", () => {
    const monthly = { kind: "fixed window", rate: 1, period: "month", start: at } as const;
    expect(resetAt({ value: 0, now: at + DAY, config: monthly })).toBe(Date.UTC(2030, 1, 1));
    const daily = {
      ...monthly,
      period: "day",
      start: undefined,
      timeZone: "Europe/Berlin",
    } as const;
    const { start: _, ...config } = daily;
    const noon = Date.parse("2030-03-31T12:00Z");
    expect(resetAt({ value: 0, now: noon, config })).toBe(Date.parse("2030-03-31T22:00Z"));
  });
});

it("has no instant for credits, nor for a debt that is never repaid", () => {
  const credits = { kind: "credits", rate: 0, period: 1, capacity: 10 } as const;
  expect(resetAt({ value: 5, now: at, config: credits })).toBeUndefined();
  const value = -MAX_RETRY_AFTER;
  expect(resetAt({ value, now: at, config: { ...bucket, period: HOUR } })).toBeUndefined();
});

it("is the first ms at which a bucket is full, or a window begins, for any row", () => {
  fc.assert(
    fc.property(anyCall, ({ config, existing, now }) => {
      const state = existing ? tokensOf(existing, config) : heldAt(null, config, now);
      const from = Math.max(now, state.ts);
      const found = resetAt({ ...state, now: from, config })!;
      if (config.kind === "fixed window") {
        expect(found).toBeGreaterThan(from);
        const windows = { ...config, start: state.ts };
        expect(windowAt(windows, found)).toBe(found);
        expect(windowAt(windows, found - 1)).toBeLessThanOrEqual(from);
        return;
      }
      fc.pre(found !== undefined);
      const most = mostUsed(config, capacityOf(config) - toleranceOf(config));
      const isFull = (ms: number) => refill(config, readingOf(config, state), ms).used <= most;
      expect(isFull(found)).toBe(true);
      if (found > Math.ceil(state.ts)) expect(isFull(found - 1)).toBe(false);
    }),
    { numRuns: cases(5000) },
  );
});

describe("what a limiter answers", () => {
  const clock = createManualClock();
  const limits = {
    bucket: { ...bucket, blockFor: HOUR },
    hourly,
    daily: { kind: "fixed window", rate: 1, period: "day", timeZone: "Asia/Kolkata" },
    wide: { ...bucket, shards: 2 },
    slots: { kind: "concurrency", slots: 1, ttl: 2 * SECOND },
  } as const;
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock });

  it("says when it resets: a grant, a denial, an error, a value and a snapshot", async () => {
    const key = "ada";
    const of = (name: keyof typeof limits) => limiter.configOf(name, { key });
    const granted = await limiter.limit("bucket", { key, count: 6 });
    const full = clock() + MINUTE;
    expect(granted.ok && resetAt({ ...granted, config: of("bucket") })).toBe(full);
    expect(resetAt(await limiter.getValue("bucket", { key }))).toBe(full);
    await limiter.limit("hourly", { key, count: 3 });
    clock.advance(10 * MINUTE);
    const denied = await limiter.limit("hourly", { key });
    const next = at + HOUR;
    expect(resetAt({ ...denied, now: clock(), config: of("hourly") })).toBe(next);
    const thrown: unknown = await limiter
      .limit("hourly", { key, throws: true })
      .catch((error: unknown) => error);
    const { rateLimit } = (thrown as { data: { rateLimit: Parameters<typeof resetAt>[0] } }).data;
    expect(resetAt(rateLimit)).toBe(next);
    await limiter.limit("daily", { key });
    await limiter.limit("wide", { key, count: 3 });
    const items = (["hourly", "daily", "wide"] as const).map((name) => ({ name, key }));
    const shown = (await limiter.snapshots(items)).map((snapshot) => resetAt(snapshot));
    expect(shown).toEqual([next, Date.parse("2030-01-01T18:30Z"), clock() + 30 * SECOND]);
  });

  it("counts from the end of a block", async () => {
    const key = "bob";
    await limiter.limit("bucket", { key, count: 6 });
    await limiter.limit("bucket", { key });
    const [snapshot] = await limiter.snapshots([{ name: "bucket", key }]);
    expect(resetAt(snapshot!)).toBe(clock() + HOUR + MINUTE);
  });

  it("says of slots when the first one is free, if its holder does not renew it", async () => {
    const items = [{ name: "slots" }] as const;
    const [free] = await limiter.snapshots(items);
    expect(resetAt(free!)).toBeUndefined();
    const slot = await limiter.enter("slots");
    const [held] = await limiter.snapshots(items);
    expect(resetAt(held!)).toBe(clock() + 2 * SECOND);
    if (slot.ok) await slot.release();
  });
});
