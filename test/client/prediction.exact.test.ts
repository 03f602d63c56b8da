/**
 * A page predicts to the last bit what the server decides, even if only a few tokens of many were used.
 * Example: what is left of 2^40 tokens is the same double after a use of a thousandth and after no use.
 */
import { describe, expect, it } from "vitest";
import { availableAt, predict, take } from "../../client/prediction.js";
import { closedRow } from "../../core/block.js";
import { floorOf, MAX_WAIT, type ShownConfig } from "../../core/config.js";
import { isSatisfiable } from "../../core/count.js";
import { takeTokens } from "../../core/decide.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { CLOSED, isOfLarger, rowOf } from "../../core/rows/bucket.js";
import { tokensOf } from "../../core/rows/reading.js";
import type { Row } from "../../core/rows/row.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { cases } from "../support/cases.js";
import { createRandom } from "../support/seeded-random.js";

const NOW = Date.UTC(2030, 0, 1);

/** As the server sends it, and as JSON brings it. */
function snapshotOf(row: Row, config: ShownConfig, now: number): RateLimitSnapshot {
  const snapshot = { name: "a", config, ...tokensOf(row, config), now };
  return JSON.parse(JSON.stringify(snapshot)) as RateLimitSnapshot;
}

/** Compares the first ms at which the page expects a call to pass with what the server would answer. */
function expectTurn(row: Row, snapshot: RateLimitSnapshot, now: number, count: number): number {
  const { config } = snapshot;
  const floor = floorOf(config, false);
  const passes = (at: number) => takeTokens(row, config, at, count, floor) !== undefined;
  const at = availableAt(snapshot, count);
  const isNow = at <= now;
  expect(passes(isNow ? now : at)).toBe(true);
  expect(isNow || !passes(at - 1)).toBe(true);
  return at;
}

describe("a page and the server", () => {
  const random = createRandom(1);
  const pick = <T>(...of: T[]) => of[Math.floor(random() * of.length)]!;

  function anyConfig(): ShownConfig & { capacity: number; period: number } {
    const capacity = pick(0.3, 1, 5, 1e6, 2 ** 40);
    const rate = pick(random() * capacity, 1 / 3, 1 / 7, capacity);
    const config = { rate, period: pick(7, SECOND, MINUTE, HOUR, DAY), capacity };
    return pick<ReturnType<typeof anyConfig>>(
      { kind: "token bucket", ...config },
      { kind: "fixed window", ...config },
    );
  }

  it("agree on the ms at which a call passes, whatever part of a token was used", () => {
    let calls = 0;
    let waits = 0;
    while (calls < cases(100_000)) {
      const config = anyConfig();
      const { capacity, rate, period } = config;
      const used = random() * pick(1e-9, 1e-3, 1, capacity, 2 * capacity);
      const ts = NOW - Math.floor(random() * 2 * period);
      // Also one that a larger config has written.
      const row = pick(rowOf(config, used, ts), { used, ts });
      const now = NOW + Math.floor(random() * period);
      const count = pick(0, random() * capacity, capacity, capacity - used);
      const isValid = (2 * capacity * period) / rate < MAX_WAIT && count >= 0;
      if (!isValid || !isSatisfiable(config, count, false)) continue;
      calls++;
      const snapshot = snapshotOf(row, config, now);
      if (expectTurn(row, snapshot, now, count) > now) waits++;
      // The page goes on from its own prediction as the server does from its row. What a larger config had
      // used stays in that, and a page knows nothing of it.
      const next = takeTokens(row, config, now, count, floorOf(config, false));
      if (!next || isOfLarger(config, row)) continue;
      const taken = take(snapshot, now, count);
      const { value } = tokensOf(next, config);
      expect([taken.value, taken.ts]).toEqual([value, next.ts]);
      expect(expectTurn(next, taken, now, capacity)).toBe(
        availableAt(snapshotOf(next, config, now), capacity),
      );
    }
    expect(waits).toBeGreaterThan(calls / 10);
  });

  it.each<[what: string, config: ShownConfig, opensAfter: number]>([
    [
      "a token bucket",
      { kind: "token bucket", rate: 1 / 3, period: 7, capacity: 5, blockFor: 2500 },
      2500,
    ],
    [
      "a window",
      { kind: "fixed window", rate: 2, period: SECOND, start: 17, blockFor: 1500 },
      2017,
    ],
    [
      "a window that holds more than it brings",
      { kind: "fixed window", rate: 2, period: SECOND, capacity: 6, start: 0, blockFor: 1500 },
      2000,
    ],
    [
      "a month",
      { kind: "fixed window", rate: 2, period: "month", start: 0, blockFor: DAY },
      31 * DAY,
    ],
    [
      "a new window",
      {
        kind: "fixed window",
        rate: 2,
        period: SECOND,
        start: 17,
        blockFor: 1500,
        afterBlock: "new window",
      },
      1500,
    ],
  ])("agree on the ms at which %s opens that is closed", (_what, config, opensAfter) => {
    const now = NOW;
    const floor = floorOf(config, false);
    const used = takeTokens(null, config, now, config.capacity ?? config.rate, floor)!;
    const row = closedRow(used, config, now)!;
    const end = now + opensAfter;
    expect(row).toEqual({ used: CLOSED, ts: end });
    const snapshot = snapshotOf(row, config, now);
    expect(snapshot).toMatchObject({ value: 0, closedUntil: end });
    for (const count of [0, 1e-12, 0.5, 1, 2]) expectTurn(row, snapshot, now, count);
    expect(availableAt(snapshot, 0)).toBe(end);
    // In the reader's own time.
    const offset = 12_345;
    const check = (at: number) => predict(snapshot, offset, at - offset, 0);
    const [opens, opensAt] = [config.kind === "fixed window" ? 2 : 0, end - offset];
    for (const at of [now, end - 1]) {
      expect(check(at)).toMatchObject({ value: 0, retryAt: opensAt, closedUntil: opensAt });
    }
    expect(check(end)).toMatchObject({ value: opens, retryAt: undefined, closedUntil: undefined });
  });
});
