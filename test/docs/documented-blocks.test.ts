/** The figures of the guide to log-ins without tRPC, each computed by `core`. */
import { expect, it } from "vitest";
import { heldAt } from "../../core/rows/reading.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import { decideRateLimit } from "../../core/decide.js";
import { DAY, HOUR, MINUTE } from "../../core/durations.js";
import { readPage } from "./pages.js";

const T = Date.UTC(2030, 0, 1);
const PAGE = "docs/guides/log-ins-without-trpc.md";

/** After ten attempts and one that is denied: the wait, and the tokens at its end. */
function afterBlock(config: RateLimitConfig): { wait: number; attempts: number } {
  const spent = decideRateLimit(null, config, T, 10).next!;
  const { result, next } = decideRateLimit(spent, config, T, 1);
  const wait = result.retryAfter!;
  const { value } = heldAt(next, config, T + wait);
  return { wait, attempts: Math.floor(value + 1e-9) };
}

/** The shortest and the longest wait, over the instants at which its window may have started. */
function waits(config: RateLimitConfig): string[] {
  const { period } = config as { period: number };
  const before = [0, 1, HOUR, period / 2, period - HOUR, period - HOUR + 1, period - 1];
  const found = before.map(
    (ms) => afterBlock({ ...config, start: T - ms } as RateLimitConfig).wait,
  );
  return [Math.min(...found), Math.max(...found)].map(durationOf);
}

/** To the minute. */
function durationOf(ms: number): string {
  const minutes = Math.round(ms / MINUTE);
  const units = [
    [Math.floor(minutes / 1440), "day"],
    [Math.floor(minutes / 60) % 24, "hour"],
    [minutes % 60, "minute"],
  ] as const;
  return units
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`)
    .join(" and ");
}

const long = { rate: 10, period: 90 * DAY, blockFor: HOUR } as const;
const short = { rate: 10, period: HOUR, blockFor: HOUR } as const;

it.each<[string, RateLimitConfig]>([
  [
    'fixed window, 10 in 90 days, with `afterBlock: "new window"`',
    { kind: "fixed window", ...long, afterBlock: "new window" },
  ],
  ["fixed window, 10 in 90 days", { kind: "fixed window", ...long }],
  ["fixed window, 10 in an hour", { kind: "fixed window", ...short }],
  ["token bucket, 10 in 90 days", { kind: "token bucket", ...long }],
  ["token bucket, 10 in an hour", { kind: "token bucket", ...short }],
])("the guide has the wait and the attempts of: %s", async (title, config) => {
  const { text } = await readPage(PAGE);
  const rows = text.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const row = rows.find((cells) => cells[1] === title);
  const { attempts } = afterBlock(config);
  const unit = attempts === 1 ? "attempt" : "attempts";
  expect(row?.slice(2, 5)).toEqual([...waits(config), `${attempts} ${unit}`]);
});

it("counts the attempts of a guesser who comes back after each block, as the guide does", async () => {
  const config: RateLimitConfig = { kind: "fixed window", ...long, afterBlock: "new window" };
  let row = null;
  let granted = 0;
  for (let now = T; now < T + DAY; now += MINUTE) {
    for (let i = 0; i < 12; i++) {
      const { result, next } = decideRateLimit(row, config, now, 1);
      row = next ?? row;
      if (result.ok) granted++;
    }
  }
  expect(granted).toBe(240);
  expect((await readPage(PAGE)).text).toContain(`so ${granted} a day`);
});
