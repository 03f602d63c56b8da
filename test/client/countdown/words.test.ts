import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CountdownWords, wordsOf } from "../../../client/countdown/words.js";

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
/** A Sunday. */
const NOON = Date.UTC(2030, 5, 16, 12);

beforeEach(() => {
  vi.stubEnv("TZ", "UTC");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** With the blanks of `Intl` as those of a keyboard. */
const plain = (text: string) => text.replace(/[\u00A0\u202F\u2009]/g, " ");
const shown = (seconds: number, words: CountdownWords = {}, isSaid = false) =>
  plain(wordsOf(words, {})(seconds, NOON + seconds * 1000, isSaid));
const said = (seconds: number, words?: CountdownWords) => shown(seconds, words, true);

describe("a wait in English", () => {
  it.each([
    [1, "1s", "Wait 1 second"],
    [5, "5s", "Wait 5 seconds"],
    [60, "1m 0s", "Wait 1 minute"],
    [125, "2m 5s", "Wait 3 minutes"],
    [HOUR - 1, "59m 59s", "Wait 1 hour"],
    [HOUR + 2 * MINUTE, "1h 2m", "Wait 2 hours"],
    [12 * HOUR - 1, "11h 59m", "Wait 12 hours"],
    [0, "You can go on", "You can go on"],
    [Infinity, "never", "You cannot go on"],
  ])("of %d s is shown as %j, and announced as %j", (seconds, text, announced) => {
    expect(shown(seconds)).toBe(text);
    expect(said(seconds)).toBe(announced);
  });

  it.each([
    ["later today", 11 * HOUR, "11h 0m"],
    ["tomorrow", 12 * HOUR, "at 12:00 AM on Monday"],
    ["on a day of this week", 45 * HOUR, "at 9:00 AM on Tuesday"],
    ["on one day before the same one", 6 * DAY - 1, "at 12:00 PM on Saturday"],
    ["on a date", 6 * DAY, "at 12:00 PM on June 22"],
    ["in a month", 30 * DAY, "at 12:00 PM on July 16"],
    ["next year", 250 * DAY, "at 12:00 PM on February 21"],
    ["so late that the year counts", 400 * DAY, "at 12:00 PM on July 21, 2031"],
  ])("that ends %s says so", (_, seconds, text) => {
    expect(shown(seconds)).toBe(text);
  });

  it("is announced until the clock time, too", () => {
    expect(said(45 * HOUR)).toBe("Wait until 9:00 AM on Tuesday");
  });

  it("names no day if it ends today", () => {
    vi.stubEnv("TZ", "Pacific/Honolulu");
    // Two in the morning there.
    expect(shown(13 * HOUR)).toBe("at 3:00 PM");
    expect(said(13 * HOUR)).toBe("Wait until 3:00 PM");
  });

  it("is that of the visitor's own clock", () => {
    vi.stubEnv("TZ", "Asia/Tokyo");
    expect(shown(45 * HOUR)).toBe("at 6:00 PM on Tuesday");
  });

  it("has days in place of a clock where none is known, as on a server", () => {
    expect(wordsOf({}, {})(30 * DAY)).toBe("30d 0h");
    expect(wordsOf({}, {})(9 * DAY + 14 * HOUR)).toBe("9d 14h");
  });

  it.each([-400, 0, 400])("is right to the minute if its end was corrected by %d ms", (ms) => {
    expect(plain(wordsOf({}, {})(45 * HOUR, NOON + 45 * HOUR * 1000 + ms))).toBe(
      "at 9:00 AM on Tuesday",
    );
  });
});

describe("another language", () => {
  // `Intl` has other words now and then, so these are what stays the same.
  it.each([
    ["en-GB", /^2m 5s$/, /^at 09:00 on Tuesday$/],
    ["de", /^2 Min\.\D+5 Sek\.$/, /^at 09:00 on Dienstag$/],
    ["ar-EG", /^٢\D+٥/, /٩:٠٠.* on الثلاثاء$/],
    ["ja", /^2\D+5\D+$/, /^at 9:00 on 火曜日$/],
  ])("has its numbers, units and clock: %s", (locale, parts, clock) => {
    expect(shown(125, { locale })).toMatch(parts);
    expect(shown(45 * HOUR, { locale })).toMatch(clock);
  });

  const GERMAN: CountdownWords = {
    locale: "de",
    labels: {
      in: (time) => `noch ${time}`,
      at: (clock, day) => (day ? `${day} um ${clock}` : `um ${clock}`),
      never: "nie",
      announceIn: (time) => `Noch ${time}`,
      announceAt: (clock, day) => `Wieder ${day ?? "heute"} um ${clock}`,
      announceNever: "Es geht nicht weiter",
      announceEnd: "Es geht weiter",
    },
  };

  it("has its own sentences", () => {
    expect([
      shown(125, GERMAN),
      shown(45 * HOUR, GERMAN),
      shown(Infinity, GERMAN),
      said(125, GERMAN),
      said(45 * HOUR, GERMAN),
      said(Infinity, GERMAN),
      said(0, GERMAN),
    ]).toEqual([
      expect.stringMatching(/^noch 2 Min\.\D+5 Sek\.$/),
      "Dienstag um 09:00",
      "nie",
      "Noch 3 Minuten",
      "Wieder Dienstag um 09:00",
      "Es geht nicht weiter",
      "Es geht weiter",
    ]);
  });

  it("has those of the countdown, then those of the provider, then the English ones", () => {
    const words = wordsOf({ labels: { in: (time) => `own ${time}` } }, GERMAN);
    expect(words(5)).toBe("own 5 Sek.");
    expect(words(Infinity)).toBe("nie");
    expect(wordsOf({ locale: undefined, labels: { in: undefined! } }, {})(5)).toBe("5s");
  });

  it("is refused if it is none", () => {
    expect(() => wordsOf({ locale: "en_GB" }, {})(5)).toThrow(RangeError);
  });
});
