import { describe, expect, it } from "vitest";
import { calculateRateLimit } from "../../core/calculate.js";
import { MAX_RETRY_AFTER, reservableOf, shardConfig } from "../../core/config.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { validateSatisfiable } from "../../core/count.js";
import { decideRateLimit, grantOf, type RateLimitDecision } from "../../core/decide.js";
import { DAY } from "../../core/durations.js";
import type { Row } from "../../core/rows/row.js";
import { decideShardPair } from "../../core/shards.js";
import { throws } from "./arbitraries.js";

const T = Date.UTC(2030, 0, 1);

/** One token a second, at most three. */
const bucket: RateLimitConfig = { kind: "token bucket", rate: 1, period: 1000, capacity: 3 };
/** Three tokens every ten seconds. */
const window: RateLimitConfig = { kind: "fixed window", rate: 3, period: 10_000, start: 0 };

/** The row of a limit of three tokens that has these left, or owes them. */
const row = (value: number): Row => ({ used: value < 0 ? value : 3 - value, ts: T });

/** The decision `ms` after T. */
const decide = (
  existing: Row | null,
  config: RateLimitConfig,
  ms: number,
  count: number,
  reserve?: boolean,
) => decideRateLimit(existing, config, T + ms, count, reserve);

describe("a call without reserve", () => {
  it("is granted down to the last token, and returns the tokens left and the row to write", () => {
    expect(decide(null, bucket, 0, 2)).toEqual({
      result: { ok: true, value: 1, ts: T },
      next: row(1),
    });
    expect(decide(row(1), bucket, 0, 1)).toEqual({
      result: { ok: true, value: 0, ts: T },
      next: row(0),
    });
  });

  it("is denied for more tokens than there are, and writes nothing", () => {
    expect(decide(row(1), bucket, 0, 2)).toEqual({
      result: { ok: false, retryAfter: 1000, value: 1 },
      next: undefined,
    });
    expect(decide(row(1), bucket, 500, 2)).toEqual({
      result: { ok: false, retryAfter: 500, value: 1.5 },
      next: undefined,
    });
    expect(decide(row(1), window, 4000, 2)).toEqual({
      result: { ok: false, retryAfter: 6000, value: 1 },
      next: undefined,
    });
  });

  it("is denied while reservations are outstanding, even for no tokens at all", () => {
    const denied = { ok: false, retryAfter: 2000, value: -2 };
    expect(decide(row(-2), bucket, 0, 0).result).toEqual(denied);
    expect(decide(row(-2), bucket, 0, 1).result).toEqual({ ...denied, retryAfter: 3000 });
  });

  it("counts the wait from its own clock if the row is ahead of it", () => {
    const denied = { ok: false, retryAfter: 6000, value: 0 };
    expect(decide(row(0), bucket, -5000, 1).result).toEqual(denied);
  });
});

describe("a call for tokens that are there but for a rounding error", () => {
  it("is not told to wait where the answer is rounded the other way", () => {
    const odd: RateLimitConfig = { ...window, rate: 10, capacity: 88.40917670301394 };
    const used = 88.37357753009762;
    const { result } = decide({ used, ts: T }, odd, 1, 0.03559917391632075, true);
    expect(result).toEqual({ ok: true, value: 0, ts: T });
  });

  const quick: RateLimitConfig = { kind: "token bucket", rate: 10, period: 100 };

  it("is granted, with nothing left and no wait", () => {
    const looked = decide({ used: 10, ts: T }, quick, 1, 0).next!;
    const { next = null } = decide(looked, quick, 13, 1);
    const { result, next: last } = decide(next, quick, 100, 9);
    expect(result).toEqual({ ok: true, value: 0, ts: T + 100 });
    // Nothing is added to the row, so rounding errors do not add up to a token.
    expect(last!.used).toBeGreaterThan(10);
    expect(decide(last!, quick, 100, 0).result).toMatchObject({ ok: true, value: 0 });
  });

  it("does not wait a millisecond too long, and never passes one too early", () => {
    const minute: RateLimitConfig = { kind: "token bucket", rate: 10, period: 60_000 };
    let state: Row | null = null;
    for (let ms = 0; ms < 200_000; ms += 97) {
      const { result, next }: RateLimitDecision = decide(state, minute, ms, 1);
      state = next ?? state;
      if (result.ok) continue;
      // In whole numbers: a token is 6,000 parts, and every ms brings one of them.
      const parts = Math.round(6000 * (10 - state!.used));
      expect(result.retryAfter).toBe(6000 - parts - (T + ms - state!.ts));
    }
  });

  it("is denied a ms before the token of a year is there", () => {
    const year: RateLimitConfig = { kind: "token bucket", rate: 1, period: 365 * 86_400_000 };
    expect(decide({ used: 1, ts: T }, year, year.period - 1, 1).result).toMatchObject({
      ok: false,
      retryAfter: 1,
    });
    expect(decide({ used: 1, ts: T }, year, year.period, 1).result.ok).toBe(true);
  });
});

describe("a call with reserve", () => {
  const capped = { ...bucket, maxReserved: 2 };

  it("is granted without a wait while there are tokens", () => {
    const granted = { result: { ok: true, value: 0, ts: T }, next: row(0) };
    expect(decide(row(2), capped, 0, 2, true)).toStrictEqual(granted);
  });

  it("owes tokens up to maxReserved, and says when they are repaid", () => {
    expect(decide(row(0), capped, 0, 2, true)).toEqual({
      result: { ok: true, retryAfter: 2000, value: -2, ts: T },
      next: row(-2),
    });
    expect(decide(row(3), capped, 0, 5, true).result).toMatchObject({ ok: true, value: -2 });
  });

  it.each([
    ["just above maxReserved", 0, 2.5, 500],
    ["far above maxReserved", -2, 2, 2000],
    ["of a single token at maxReserved", -2, 1, 1000],
    ["of all tokens that can be held and owed", 0, 5, 3000],
  ])(
    "is denied %s until it may owe the tokens, not until there are tokens",
    (_, value, count, wait) => {
      const { result, next } = decide(row(value), capped, 0, count, true);
      expect(result).toEqual({ ok: false, retryAfter: wait, value });
      expect(next).toBeUndefined();
      expect(decide(row(value), capped, wait, count, true).result).toMatchObject({
        ok: true,
        value: -2,
      });
      expect(decide(row(value), capped, wait - 1, count, true).result.ok).toBe(false);
    },
  );

  it("waits for the next windows of a fixed window", () => {
    const config = { ...window, maxReserved: 2 };
    const reserved = { ok: true, retryAfter: 6000, value: -2, ts: T };
    expect(decide(row(0), config, 4000, 2, true).result).toEqual(reserved);
    const denied = { ok: false, retryAfter: 6000, value: -2 };
    expect(decide(row(-2), config, 4000, 3, true).result).toEqual(denied);
    expect(decide(row(-2), config, 4000, 4, true).result).toEqual({
      ...denied,
      retryAfter: 16_000,
    });
  });

  it("owes nothing if maxReserved is 0", () => {
    const never = { ...bucket, maxReserved: 0 };
    const denied = { ok: false, retryAfter: 1000, value: 0 };
    expect(decide(row(0), never, 0, 1, true).result).toEqual(denied);
    expect(decide(row(1), never, 0, 1, true).result).toEqual({ ok: true, value: 0, ts: T });
  });

  it("owes any number of tokens if maxReserved is not set", () => {
    const reserved = { ok: true, retryAfter: 1e9 - 3000, value: 3 - 1e6, ts: T };
    expect(decide(null, bucket, 0, 1e6, true).result).toEqual(reserved);
  });

  it("owes every token of a limit with capacity 0", () => {
    const empty = { ...bucket, capacity: 0, maxReserved: 2 };
    const first = decide(null, empty, 0, 1, true);
    expect(first.result).toEqual({ ok: true, retryAfter: 1000, value: -1, ts: T });
    const second = decide(first.next ?? null, empty, 0, 1, true);
    expect(second.result).toEqual({ ok: true, retryAfter: 2000, value: -2, ts: T });
    const third = decide(second.next ?? null, empty, 0, 1, true);
    expect(third.result).toEqual({ ok: false, retryAfter: 1000, value: -2 });
    expect(decide(second.next ?? null, empty, 1000, 1, true).result.ok).toBe(true);
  });

  it.each<[value: number, count: number, config: RateLimitConfig]>([
    [-2, 0.3, { kind: "token bucket", rate: 1, period: 1000 }],
    [-2, 0.4, { kind: "fixed window", rate: 0.3, period: 1000, capacity: 1, start: 0 }],
  ])("waits exactly until its debt is repaid: %d - %d", (value, count, config) => {
    const { result, next = null } = decide(row(value), config, 0, count, true);
    const { retryAfter = 0 } = result;
    expect(decide(next, config, retryAfter, 0).result.ok).toBe(true);
    expect(decide(next, config, retryAfter - 1, 0).result.ok).toBe(false);
  });
});

describe("the largest satisfiable count", () => {
  it.each([
    [0.1, 0.2],
    [1 / 3, 2 / 3],
    [0.7, 0.1],
    [3, 80_000],
    [1e-6, 1e-6],
  ])("is granted by a full bucket of %d that may owe %d", (capacity, maxReserved) => {
    const config: RateLimitConfig = { ...bucket, rate: capacity, capacity, maxReserved };
    const around = [-1e-16, 0, 1e-16].map((off) => (capacity + maxReserved) * (1 + off));
    for (const count of [capacity + maxReserved, ...around]) {
      if (throws(() => validateSatisfiable("limit", config, count, true))) continue;
      expect(decide(null, config, 0, count, true).result, `count ${count}`).toMatchObject({
        ok: true,
      });
    }
  });

  it.each<RateLimitConfig>([bucket, window, { ...bucket, rate: 1 / 3, period: 7 }])(
    "can be granted again if maxReserved is not set: %o",
    (config) => {
      const most = (config.capacity ?? config.rate) + reservableOf(config);
      const first = decide(null, config, 0, most, true);
      expect(first.result).toMatchObject({ ok: true, retryAfter: expect.any(Number) });
      const { result } = decide(first.next ?? null, config, 0, most / 2, true);
      expect(result).toMatchObject({
        ok: false,
        retryAfter: expect.toSatisfy(Number.isSafeInteger),
      });
      expect(
        decide(first.next ?? null, config, result.retryAfter ?? 0, most / 2, true).result.ok,
      ).toBe(true);
    },
  );
});

describe("the wait for a debt that the config cannot repay", () => {
  // Left behind by a larger config, such as that of a tier that the caller had before.
  const owed = row(-1e15);
  const tiers = [
    { kind: "token bucket", rate: 1, period: 365 * DAY },
    { kind: "fixed window", rate: 1, period: 365 * DAY, start: 0 },
    { kind: "fixed window", rate: 1, period: "month", start: 0 },
  ] as const;

  it.each(tiers)("is the longest one, a whole number that JSON keeps, with %o", (config) => {
    const now = T + DAY;
    const part = shardConfig({ ...config, shards: 2 });
    const waits = [
      decideRateLimit(owed, config, now, 1).result,
      decideRateLimit(owed, config, now, 1, true).result,
      decideShardPair([owed, owed], part, now, 1).result,
      calculateRateLimit({ value: -1e15, ts: T }, config, now, 1),
      grantOf(owed, config, now),
    ].map(({ retryAfter }) => retryAfter);
    for (const wait of waits) expect(wait).toBe(MAX_RETRY_AFTER);
    expect(Number.isSafeInteger(now + MAX_RETRY_AFTER)).toBe(true);
    expect(new Date(now + MAX_RETRY_AFTER).getTime()).toBe(now + MAX_RETRY_AFTER);
  });
});
