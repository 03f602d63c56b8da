/** Charges to closed rows: the rows stay closed for longer, and no tokens open them early. */
import { describe, expect, it } from "vitest";
import { chargeRows } from "../../core/charge.js";
import { type Bucket, MAX_WAIT } from "../../core/config.js";
import { decideRateLimit } from "../../core/decide.js";
import { HOUR, MINUTE } from "../../core/durations.js";
import { refundRateLimit } from "../../core/refund.js";
import { CLOSED } from "../../core/rows/bucket.js";

const T = Date.UTC(2030, 0, 1);
const bucket: Bucket = { kind: "token bucket", rate: 6, period: MINUTE };
const window: Bucket = { kind: "fixed window", rate: 6, period: MINUTE, start: 0 };
const closed = (ms: number) => ({ used: CLOSED, ts: T + ms });

describe("a charge", () => {
  it.each([
    [bucket, 3, MINUTE + 30_000],
    [window, 3, 2 * MINUTE],
    [window, 7, 3 * MINUTE],
  ])("of a closed %o keeps it closed until that has refilled, too: %d", (config, count, opens) => {
    expect(chargeRows([closed(MINUTE)], config, T, count)).toEqual({
      next: [closed(opens)],
      charged: [count],
    });
  });

  it("of closed shards keeps each of them closed for its part", () => {
    const { next, charged } = chargeRows([closed(MINUTE), closed(HOUR)], bucket, T, 6);
    expect(next).toEqual([closed(MINUTE + 30_000), closed(HOUR + 30_000)]);
    expect(charged).toEqual([3, 3]);
    const back = refundRateLimit(next, bucket, T, 6);
    expect(back).toMatchObject({ value: 0, next: [undefined, undefined], rest: 6 });
  });

  it("of shards of which one is closed is paid by the others", () => {
    const rows = [closed(MINUTE), { used: 1, ts: T }, null];
    expect(chargeRows(rows, bucket, T, 4)).toEqual({
      next: [closed(MINUTE), { used: 2.5, ts: T }, { used: 2.5, ts: T }],
      charged: [0, 1.5, 2.5],
    });
  });

  it("closes no row for longer than a wait can be told for, however often it is made", () => {
    for (const config of [bucket, window, { ...window, period: "month" } as Bucket]) {
      let row = closed(HOUR);
      for (let i = 0; i < 50; i++) [row] = chargeRows([row], config, T, 1e6).next as [typeof row];
      for (let i = 0; i < 50; i++) [row] = chargeRows([row], config, T, 1e11).next as [typeof row];
      expect(row.ts - T).toBeLessThanOrEqual(2 * MAX_WAIT);
      const { result } = decideRateLimit(row, config, T, 1);
      expect(result.retryAfter).toSatisfy(Number.isSafeInteger);
    }
  });
});
