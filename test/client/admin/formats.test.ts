/** Numbers, times and waits for people who help users. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFormats } from "../../../client/admin/formats.js";
import { MAX_RETRY_AFTER } from "../../../core/config.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../../core/durations.js";

const english = createFormats("en-GB");
const german = createFormats("de");
/** A Wednesday, at ten of the reader's clock. */
const NOW = new Date(2030, 3, 3, 10, 0, 0).getTime();

beforeEach(() => vi.useFakeTimers({ now: NOW }));
afterEach(() => vi.useRealTimers());

// Versions of ICU differ in their commas.
describe("a wait", () => {
  it.each([
    [1, "1s"],
    [999, "1s"],
    [65 * SECOND, "1m 5s"],
    [HOUR, "1h"],
    [HOUR + 30 * SECOND, "1h"],
    [2 * HOUR + 5 * MINUTE, "2h 5m"],
  ])("of %i ms is told in its two largest units", (ms, text) => {
    expect(english.wait(ms)).toBe(text);
  });

  it("beyond half a day is told by the clock, and beyond days by the date", () => {
    expect(english.wait(13 * HOUR)).toBe("23:00");
    expect(english.wait(23 * HOUR)).toMatch(/^Thu,? 09:00$/);
    expect(english.wait(30 * DAY)).toMatch(/^3 May,?(?: at)? 10:00$/);
    expect(english.wait(400 * DAY)).toBe("8 May 2031");
    expect(english.wait(MAX_RETRY_AFTER)).toBe("no end");
    expect(english.goesOn(65 * SECOND)).toBe("may go on in 1m 5s");
    expect(english.goesOn(13 * HOUR)).toBe("may go on at 23:00");
    expect(english.goesOn(400 * DAY)).toBe("may go on from 8 May 2031");
    expect(english.goesOn(MAX_RETRY_AFTER)).toBe("does not go on by itself");
  });

  it("is in the reader's language", () => {
    expect(german.wait(23 * HOUR)).toMatch(/^Do\.?,? 09:00$/);
    expect(german.wait(65 * SECOND)).toMatch(/^1.?Min\.? 5.?Sek\.?$/);
  });
});

describe("a number", () => {
  it("is rounded down: a part of a token lets no call pass", () => {
    expect(english.number(0.999)).toBe("0.99");
    expect(english.number(2.9999999999)).toBe("3");
    expect(english.number(-1000)).toBe("-1,000");
    expect(german.number(1234.5)).toBe("1.234,5");
  });
});

describe("a part", () => {
  it.each([
    [0, "0%"],
    [0.00001, "0.1%"],
    [0.1234, "12.3%"],
    [0.99999, "99.9%"],
    [1, "100%"],
  ])("of %d is %s: only nothing is none, and only all is all", (part, text) => {
    expect(english.percent(part)).toBe(text);
  });
});

describe("a config", () => {
  it.each([
    [{ kind: "token bucket", rate: 10, period: MINUTE }, "token bucket", "10 per 1m"],
    [
      { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
      "token bucket",
      "10 per 1m, holds 3",
    ],
    [
      { kind: "fixed window", rate: 1000, period: "month", timeZone: "UTC" },
      "fixed window",
      "1,000 per month",
    ],
    [{ kind: "fixed window", rate: 2, period: 1, slots: 2 }, "concurrency", "2 at a time"],
    [{ kind: "credits", rate: 0, period: 1, capacity: 5 }, "credits", "credits"],
  ] as const)("is a few words: %o", (config, kind, text) => {
    expect(english.config(config, kind)).toBe(text);
  });
});
