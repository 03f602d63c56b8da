/** How many calls the documented limits grant in a span of time, counted with `core`. */
import { describe, expect, it } from "vitest";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY, MINUTE, SECOND, WEEK } from "../../core/durations.js";
import type { Row } from "../../core/rows/row.js";
import { windowAt } from "../../core/windows.js";
import { readPage } from "./pages.js";

/** Midnight, so the start of a minute. */
const T = Date.UTC(2030, 0, 1);

/** Calls as many times as it is granted, every 500 ms, and returns the instants of the grants. */
function grants(config: RateLimitConfig, from: number, until: number): number[] {
  const found: number[] = [];
  let row: Row | null = null;
  for (let now = from; now <= until; now += SECOND / 2) {
    for (;;) {
      const { result, next }: ReturnType<typeof decideRateLimit> = decideRateLimit(
        row,
        config,
        now,
        1,
      );
      if (!result.ok) break;
      row = next!;
      found.push(now);
    }
  }
  return found;
}

/** The most grants in any span of a minute, over the instants at which the caller may begin. */
function mostInAMinute(config: RateLimitConfig): number {
  const starts = [T, T + 30 * SECOND, T + 59 * SECOND];
  const counts = starts.flatMap((from) => {
    const at = grants(config, from, from + 5 * MINUTE);
    return at.map((start) => at.filter((ms) => ms >= start && ms <= start + MINUTE).length);
  });
  return Math.max(...counts);
}

const minutely = { rate: 10, period: MINUTE } as const;

describe("docs/limits.md", () => {
  it.each<[string, RateLimitConfig]>([
    ["token bucket, 10 a minute", { kind: "token bucket", ...minutely }],
    [
      "token bucket, 10 a minute, `capacity: 3`",
      { kind: "token bucket", ...minutely, capacity: 3 },
    ],
    [
      "token bucket, 7 a minute, `capacity: 3`",
      { kind: "token bucket", rate: 7, period: MINUTE, capacity: 3 },
    ],
    ["fixed window, 10 a minute", { kind: "fixed window", ...minutely, start: 0 }],
  ])("says how many calls pass in a minute, and at once: %s", async (title, config) => {
    const { text } = await readPage("docs/limits.md");
    const rows = text.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
    const row = rows.find((cells) => cells[1] === title);
    const atOnce = grants(config, T, T).length;
    expect(row?.slice(2, 4)).toEqual([`${mostInAMinute(config)}`, `${atOnce}`]);
  });
});

describe("docs/calendars.md", () => {
  it("says on which day a week begins", async () => {
    const { text } = await readPage("docs/calendars.md");
    const dayOf = (start: number) => {
      const config = { kind: "fixed window", rate: 1, period: WEEK, start } as const;
      const at = new Date(windowAt(config, T));
      expect(at.getTime() % DAY).toBe(0);
      return at.toLocaleDateString("en", { weekday: "long", timeZone: "UTC" });
    };
    expect(text).toContain(`With a \`WEEK\`, \`0\` is a ${dayOf(0)}`);
    expect(text).toContain(`use \`4 * DAY\` for weeks that begin on ${dayOf(4 * DAY)}`);
  });
});
