import { describe, expect, it } from "vitest";
import { chargeRows } from "../../../core/charge.js";
import type { Bucket } from "../../../core/config.js";
import { decideRateLimit } from "../../../core/decide.js";
import { DAY, HOUR, MINUTE } from "../../../core/durations.js";
import { observedRows } from "../../../core/observe.js";
import { refundTaken } from "../../../core/refund.js";
import { answerAgain, markerOf } from "../../../core/rows/marker.js";
import { heldAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import { decideShardPair } from "../../../core/shards.js";

const T = Date.UTC(2030, 0, 1);
const pro: Bucket = { kind: "token bucket", rate: 50, period: 5000 * MINUTE };
const free: Bucket = { kind: "token bucket", rate: 5, period: 5 * MINUTE };

/** All of the larger one's, a minute and a half ago: one and a half tokens of the smaller one. */
const used: Row = { used: 50, ts: T - 1.5 * MINUTE };
const left = (row: Row | null | undefined, config: Bucket, now = T) =>
  Math.round(heldAt(row, config, now).value * 100) / 100;

describe("a row in which a larger config has used more", () => {
  it("has for the smaller one what was refilled, take by take, and nothing for the larger one", () => {
    const { result, next } = decideRateLimit(used, free, T, 1);
    expect(result).toMatchObject({ ok: true, value: 0.5, ts: T });
    expect([left(next, free), left(next, pro)]).toEqual([0.5, 0.01]);
    expect(decideRateLimit(next!, free, T, 1).result).toMatchObject({ retryAfter: MINUTE / 2 });
  });

  it("has whole tokens, though an instant has no room for all digits", () => {
    const config: Bucket = { kind: "token bucket", rate: 7, period: MINUTE, capacity: 3 };
    let row: Row = { used: 50, ts: T - 70_000 };
    for (let i = 0; i < 3; i++) {
      const { result, next } = decideRateLimit(row, config, T, 1);
      expect(result.ok).toBe(true);
      row = next!;
    }
    expect(decideRateLimit(row, config, T, 1).result.ok).toBe(false);
  });

  it("gets back what the smaller one has taken, for that one", () => {
    const { next } = decideRateLimit(used, free, T, 1);
    const taken = { used: 4.5, ts: T, count: 1 };
    const { next: back, refunded } = refundTaken([next!], free, T, 1, [taken]);
    expect(refunded).toEqual([1]);
    expect([left(back[0], free), left(back[0], pro)]).toEqual([1.5, 0.02]);
    // Half a minute later, half of it was refilled meanwhile.
    const late = refundTaken([next!], free, T + MINUTE / 2, 1, [taken]);
    expect(late.refunded).toEqual([0.5]);
  });

  it("gets back what the larger one has taken, by the settings of either", () => {
    for (const config of [free, pro]) {
      const taken = { used: 50, ts: used.ts, count: 30 };
      const { next } = refundTaken([used], config, used.ts, 30, [taken]);
      expect(next).toEqual([{ used: 20, ts: used.ts }]);
    }
  });

  it("is lowered by what a provider says, and never raised", () => {
    const [next] = observedRows([used], free, T, 1);
    expect([left(next, free), left(next, pro)]).toEqual([1, 0.01]);
  });

  it("is charged what was used, for the larger one", () => {
    const [charged] = chargeRows([{ ...used, used: 30 }], free, T, 3).next;
    // One and a half of them are what had refilled.
    expect([left(charged, free), left(charged, pro)]).toEqual([0, 18.5]);
  });

  it("tells the same of an id again", () => {
    const { result, next } = decideRateLimit(used, free, T, 1);
    const again = answerAgain(markerOf(next!, free, T), next, free, T + 1000);
    expect(again).toEqual({ ...result, repeated: true });
  });

  it("stays so as one of two shards that pay together", () => {
    const start = T - 2.5 * MINUTE;
    const pair = [
      { used: 50, ts: start },
      { used: 40, ts: start },
    ] as const;
    const { result, next, taken } = decideShardPair(pair, free, T, 4);
    expect(result).toMatchObject({ ok: true, value: 1 });
    expect(taken).toEqual([2, 2]);
    for (const [i, row] of next.entries()) {
      expect(row!.used).toBe(pair[i]!.used);
      expect(left(row, free)).toBe(0.5);
    }
  });

  it("is that of the smaller one from its next window on", () => {
    const window = { kind: "fixed window", period: HOUR, start: 0 } as const;
    const [small, large]: Bucket[] = [
      { ...window, rate: 5 },
      { ...window, rate: 50 },
    ];
    const row: Row = { used: 50, ts: T };
    expect(decideRateLimit(row, small!, T + HOUR - 1, 1).result).toMatchObject({ retryAfter: 1 });
    const { next } = decideRateLimit(row, small!, T + HOUR, 1);
    expect([next, left(next, large!, T + HOUR)]).toEqual([{ used: 1, ts: T + HOUR }, 49]);
  });
});

it("a charge to a closed bucket says how long nothing passes", () => {
  const config: Bucket = { ...free, blockFor: DAY };
  const [first] = [decideRateLimit(null, config, T, 5).next!];
  const closed = decideRateLimit(first, config, T, 1).next!;
  const [next] = chargeRows([closed], config, T, 2).next as [Row];
  expect(next.ts).toBe(T + DAY + 2 * MINUTE);
});
