import { describe, expect, it } from "vitest";
import { refundRateLimit, refundTaken } from "../../core/refund.js";
import { bucketConfig } from "../../core/rows/credits.js";

const T = Date.UTC(2030, 0, 1);
const bucket = { kind: "token bucket", rate: 10, period: 1000, capacity: 5 } as const;

describe("refundRateLimit", () => {
  it("gives back the tokens that were taken", () => {
    const given = refundRateLimit([{ used: 4, ts: T }], bucket, T, 2);
    expect(given).toEqual({ value: 3, next: [{ used: 2, ts: T }], refunded: [2], rest: 0 });
  });

  it("gives neither refilled tokens twice nor more than the capacity", () => {
    const { next } = refundRateLimit([{ used: 4, ts: T }], bucket, T + 300, 4);
    expect(next).toEqual([{ used: 0, ts: T + 300 }]);
  });

  it("repays a debt", () => {
    expect(refundRateLimit([{ used: -3, ts: T }], bucket, T, 1).value).toBe(-2);
  });

  it("does not change a full row or a missing one", () => {
    const given = refundRateLimit([{ used: 0, ts: T }, null], bucket, T, 3);
    expect(given).toEqual({ value: 10, next: [undefined, undefined], refunded: [0, 0], rest: 3 });
  });

  it("fills the emptier of two shards first", () => {
    const rows = [
      { used: 1, ts: T },
      { used: 4, ts: T },
    ];
    const { next } = refundRateLimit(rows, bucket, T, 4.5);
    expect(next).toEqual([
      { used: 0.5, ts: T },
      { used: 0, ts: T },
    ]);
    expect(refundRateLimit(rows, bucket, T, 1)).toMatchObject({
      value: 6,
      next: [undefined, { used: 3, ts: T }],
    });
  });

  it("keeps the current window, and keeps ts if the clock is behind", () => {
    const window = { kind: "fixed window", rate: 5, period: 1000, start: 0 } as const;
    expect(refundRateLimit([{ used: 4, ts: T }], window, T + 999, 1).next).toEqual([
      { used: 3, ts: T },
    ]);
    expect(refundRateLimit([{ used: 4, ts: T }], bucket, T - 5000, 1).next).toEqual([
      { used: 3, ts: T },
    ]);
  });
});

describe("refundTaken", () => {
  it("gives back no credits that came back before, however long ago they were taken", () => {
    const credits = bucketConfig({ kind: "credits", capacity: 100 });
    const taken = { used: 5, ts: T, count: 5, refunded: 3 };
    const given = refundTaken([{ used: 8, ts: T }], credits, T + 1e9, 5, [taken]);
    expect(given).toMatchObject({ value: 10, next: [{ used: 10 }], refunded: [2], rest: 3 });
  });

  it("gives back into the use of a larger config that has taken in the same ms", () => {
    const taken = { used: 4, ts: T, count: 4 };
    const { next, refunded } = refundTaken([{ used: 50, ts: T }], bucket, T, 4, [taken]);
    expect([next, refunded]).toEqual([[{ used: 46, ts: T }], [4]]);
  });
});
