import type { RateLimitConfig } from "trpc-rate-limit";
import { describe, expect, it } from "vitest";
import { explainBucket } from "../../../example-app/playground/explain-bucket.js";

const START = 1_700_000_000_000;
const BUCKET: RateLimitConfig = { kind: "token bucket", rate: 2, period: 1000, capacity: 5 };
const WINDOW: RateLimitConfig = { ...BUCKET, kind: "fixed window", start: 0 };
const MONTH: RateLimitConfig = { kind: "fixed window", rate: 100, period: "month", start: 0 };

describe("the words under the plot", () => {
  it.each([
    [BUCKET, 5, "5.0 of 5 tokens: it is full."],
    [BUCKET, 3.25, "3.3 of 5 tokens; 2 come each second; full in 0.9 s."],
    [BUCKET, -3, "3.0 tokens are owed; 2 come each second; repaid in 1.5 s."],
    [
      { ...BUCKET, rate: 0.1, period: 600_000 },
      1,
      "1.0 of 5 tokens; 0.01 come each minute; full in 24,000.0 s.",
    ],
    [WINDOW, 1, "1.0 of 5 tokens; 2 come with each window; the next starts in 0.4 s."],
    [{ ...BUCKET, blockFor: 5000 }, 3.25, "3.3 of 5 tokens; 2 come each second; full in 0.9 s."],
    [
      { ...BUCKET, blockFor: 5000 },
      -3,
      "3.0 tokens are owed; 2 come each second; repaid in 1.5 s.",
    ],
    [MONTH, 97, "97.0 of 100 tokens; 100 come with each month; the next starts on 1 December."],
  ] as const)("explains %o with %d tokens", (config, value, text) => {
    expect(explainBucket(value, config, START + 600, START)).toBe(text);
  });

  it.each([
    [BUCKET, 1500, "Closed for 1.5 s more. It opens empty, and 2 come each second."],
    [WINDOW, 400, "Closed for 0.4 s more."],
    [WINDOW, 1400, "Closed for 1.4 s more."],
    [MONTH, 1400, "Closed for 1.4 s more."],
    [BUCKET, 0, "0.0 of 5 tokens; 2 come each second; full in 2.5 s."],
  ] as const)("explains %o that is closed for %d ms", (config, ms, text) => {
    const now = START + 600;
    expect(explainBucket(0, config, now, now + ms, now + ms)).toBe(text);
  });
});
