/** `resetAt` of what a page predicts: the server's own instant, whatever the page's clock says. */
import { describe, expect, it } from "vitest";
import { predict } from "../../client/prediction.js";
import { DAY, HOUR, MINUTE, resetAt } from "../../core/index.js";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";

const limits = {
  bucket: { kind: "token bucket", rate: 6, period: HOUR },
  closing: { kind: "token bucket", rate: 6, period: HOUR, blockFor: DAY },
  hourly: { kind: "fixed window", rate: 6, period: HOUR },
  daily: { kind: "fixed window", rate: 6, period: "day", timeZone: "America/New_York" },
} as const;
const names = Object.keys(limits) as (keyof typeof limits)[];

describe.each(names)("a page's prediction for %s", (name) => {
  it.each([0, 1, 6])("resets when the server says, after %d tokens", async (count) => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
    await limiter.limit(name, { key: "ada", count });
    if (count === 6) await limiter.limit(name, { key: "ada" });
    clock.advance(10 * MINUTE);
    const [snapshot] = await limiter.snapshots([{ name, key: "ada" }]);
    for (const offset of [0, -DAY, 0.5]) {
      for (const later of [0, 7 * MINUTE]) {
        const checked = predict(snapshot!, offset, clock() + later - offset, 0);
        const expected = resetAt({ ...snapshot!, now: clock() + later })!;
        // A bucket that is full already is full now.
        expect(resetAt(checked)).toBe(Math.max(expected, Math.ceil(checked.now)));
      }
    }
  });
});
