import { expect, it } from "vitest";
import { describeConfig } from "../../../client/devtools/describe-config.js";
import { DAY, HOUR, SECOND } from "../../../core/durations.js";
import { MOST_CREDITS } from "../../../core/rows/credits.js";
import { slotsConfig } from "../../../core/rows/slot.js";

it("says of a limit how it closes, and how it opens again", () => {
  const config = { kind: "fixed window", rate: 10, period: 90 * DAY, blockFor: HOUR } as const;
  const closes = "fixed window: 10 per 90 d, holds up to 10, closes for 1 h after a denial";
  expect(describeConfig(config)).toBe(closes);
  expect(describeConfig({ ...config, afterBlock: "next window" })).toBe(closes);
  expect(describeConfig({ ...config, afterBlock: "new window" })).toBe(
    `${closes}, then a new window`,
  );
});

it("says in which time zone the windows of a limit are", () => {
  const config = { kind: "fixed window", rate: 10, period: "week" } as const;
  expect(describeConfig(config)).toBe("fixed window: 10 per week, holds up to 10");
  expect(describeConfig({ ...config, weekStart: 0, timeZone: "Asia/Tokyo" })).toBe(
    "fixed window: 10 per week from Sunday in Asia/Tokyo, holds up to 10",
  );
});

it("says of slots how many there are, and not how they are calculated", () => {
  const config = slotsConfig({ kind: "concurrency", slots: 2, ttl: 10 * SECOND }, []);
  expect(describeConfig(config)).toBe("slots: 2 at once, free after 10 s without a renewal");
});

it("says of credits how many they can be, where that was meant", () => {
  const config = { kind: "credits", rate: 0, period: 1, capacity: MOST_CREDITS } as const;
  expect(describeConfig(config)).toBe("credits: holds any number");
  expect(describeConfig({ ...config, capacity: 10 })).toBe("credits: holds up to 10");
});

it("says what a shadow, shards and reservations mean for calls", () => {
  const config = {
    kind: "token bucket",
    rate: 8,
    period: SECOND,
    shards: 4,
    maxReserved: 2,
  } as const;
  expect(describeConfig(config)).toBe(
    "token bucket: 8 per second, holds up to 8, may owe up to 2, spread over 4 shards",
  );
  expect(describeConfig({ ...config, shadow: true })).toMatch(/, denies no call: a shadow, or an/);
});
