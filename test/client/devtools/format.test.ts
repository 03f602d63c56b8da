import { expect, it } from "vitest";
import { formatConfig } from "../../../client/devtools/format.js";
import { DAY, HOUR } from "../../../core/durations.js";

it("says of a limit how it closes, and how it opens again", () => {
  const config = { kind: "fixed window", rate: 10, period: 90 * DAY, blockFor: HOUR } as const;
  const closes = "fixed window: 10 per 90 d, holds 10, closes for 1 h after a denial";
  expect(formatConfig(config)).toBe(closes);
  expect(formatConfig({ ...config, afterBlock: "next window" })).toBe(closes);
  expect(formatConfig({ ...config, afterBlock: "new window" })).toBe(
    `${closes}, then a new window`,
  );
});

it("says in which time zone the windows of a limit are", () => {
  const config = { kind: "fixed window", rate: 10, period: "week" } as const;
  expect(formatConfig(config)).toBe("fixed window: 10 per week, holds 10");
  expect(formatConfig({ ...config, weekStart: 0, timeZone: "Asia/Tokyo" })).toBe(
    "fixed window: 10 per week from Sunday of Asia/Tokyo, holds 10",
  );
});
