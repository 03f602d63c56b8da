import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { predict } from "../../client/prediction.js";
import { snapshotOfDenial } from "../../client/denial.js";
import { MAX_RETRY_AFTER } from "../../core/config.js";
import { isSatisfiable } from "../../core/count.js";
import { decideRateLimit } from "../../core/decide.js";
import { HOUR, MINUTE } from "../../core/durations.js";
import type { PeriodicConfig, RateLimitErrorData } from "../../core/index.js";
import { anyCall } from "../core/arbitraries.js";
import { cases } from "../support/cases.js";

const item = { name: "a limit" };

function denial(config: PeriodicConfig, value: number, retryAfter: number): RateLimitErrorData {
  return { kind: "RateLimited", name: item.name, config, value, retryAfter, now: 10 * HOUR + 7 };
}

/** A call for more tokens than the capacity, by less than the tolerance. */
const ABOVE_BY_ROUNDING = {
  config: { kind: "fixed window", rate: 1e5 - 2.5e-10, period: 1, start: 0 } as const,
  existing: { used: 49_604.96, ts: 10 * HOUR },
  now: 10 * HOUR,
  count: 1e5 + 7.5e-10,
  reserve: false,
};

describe("the snapshot of a denied call", () => {
  it("makes the same call wait for exactly as long as the server said", () => {
    fc.assert(
      fc.property(anyCall, fc.integer({ min: -HOUR, max: HOUR }), (call, offset) => {
        const { config, existing, count } = call;
        const now = Math.floor(call.now);
        const { result } = decideRateLimit(existing, config, now, count);
        fc.pre(!result.ok && isSatisfiable(config, count, false) && result.retryAfter < 2 ** 40);
        // Skip refills per ms that a double of this size cannot represent. A row holds what is used.
        const largest = Math.max(count, config.capacity ?? config.rate);
        fc.pre(config.rate / config.period > largest * 2 ** -46);
        const data = { ...denial(config, result.value, result.retryAfter!), now };
        const snapshot = snapshotOfDenial(item, data, count);
        expect(snapshot.ts).toBeLessThanOrEqual(now);
        const { retryAt } = predict(snapshot, offset, now - offset, count);
        expect(retryAt).toBe(now - offset + result.retryAfter!);
      }),
      { numRuns: cases(2000), examples: [[ABOVE_BY_ROUNDING, 0]] },
    );
  });

  it("is the server's state, where that explains the wait", () => {
    const config = { kind: "token bucket", rate: 60, period: MINUTE } as const;
    const data = denial(config, 0.5, 500);
    expect(snapshotOfDenial({ name: "n", key: "k" }, data, 1)).toEqual({
      name: "n",
      key: "k",
      value: 0.5,
      ts: data.now,
      now: data.now,
      config,
    });
  });

  it("believes the wait rather than what two shards of ten hold", () => {
    const config = { kind: "token bucket", rate: 60, period: MINUTE, shards: 10 } as const;
    const data = denial(config, 0.5, 2500);
    const { retryAt } = predict(snapshotOfDenial(item, data, 1), 0, data.now, 1);
    expect(retryAt).toBe(data.now + 2500);
  });

  it("puts a fixed window where the wait ends, several windows away too", () => {
    const config = { kind: "fixed window", rate: 2, period: HOUR, capacity: 6, start: 7 } as const;
    const data = denial(config, 1, 2 * HOUR - MINUTE);
    const snapshot = snapshotOfDenial(item, data, 4);
    expect(snapshot.ts).toBe(data.now - MINUTE);
    expect(predict(snapshot, 0, data.now, 4).retryAt).toBe(data.now + 2 * HOUR - MINUTE);
    expect(predict(snapshot, 0, data.now, 1).retryAt).toBeUndefined();
  });

  it("keeps the windows that a server has listed, and never ends a wait that has no end", () => {
    const now = 10 * HOUR + 7;
    const starts = [now - MINUTE, now + MINUTE, now + HOUR];
    const config = { kind: "fixed window", rate: 1, period: 7, capacity: 3, starts } as const;
    const retryAt = (value: number, retryAfter: number) => {
      const snapshot = snapshotOfDenial(item, denial(config, value, retryAfter), 1);
      return predict(snapshot, 0, now, 1).retryAt;
    };
    expect(retryAt(0, MINUTE)).toBe(now + MINUTE);
    expect(retryAt(-1, HOUR)).toBe(now + HOUR);
    // A row of another zone keeps its window for longer than the listed windows say.
    expect(retryAt(0, HOUR)).toBe(now + HOUR);
    expect(retryAt(-2, MAX_RETRY_AFTER)).toBe(Infinity);
  });

  it("does not deny a smaller call than the denied one", () => {
    const config = { kind: "token bucket", rate: 60, period: MINUTE } as const;
    const snapshot = snapshotOfDenial(item, denial(config, 2, 3000), 1);
    expect(predict(snapshot, 0, 10 * HOUR + 7, 1).retryAt).toBeUndefined();
    expect(snapshot.value).toBe(2);
  });
});
