import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_RETRY_AFTER } from "../../core/config.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";
import { waitInWords } from "../../core/wait-in-words.js";

/** With the blanks of `Intl` as those of a keyboard. */
const plain = (text: string | undefined) => text?.replace(/[\u00A0\u202F\u2009]/g, " ");

describe("a wait in words", () => {
  it.each([
    [1, "1 second"],
    [SECOND, "1 second"],
    [1500, "2 seconds"],
    [MINUTE, "1 minute"],
    [125 * SECOND, "2 minutes, 5 seconds"],
    [HOUR - 1, "1 hour"],
    [HOUR + 1, "1 hour, 1 minute"],
    [DAY - 1, "1 day"],
    [1_909_646_807, "22 days, 3 hours"],
    [400 * DAY, "400 days"],
  ])("of %d ms is %j", (ms, words) => {
    expect(plain(waitInWords(ms))).toBe(words);
  });

  it("has no words where no wait helps", () => {
    expect(waitInWords(MAX_RETRY_AFTER)).toBeUndefined();
    expect(waitInWords(Infinity)).toBeUndefined();
  });

  it("is in the language that was asked for", () => {
    expect(plain(waitInWords(1_909_646_807, "de"))).toBe("22 Tage, 3 Stunden");
    expect(plain(waitInWords(6_000, "de"))).toBe("6 Sekunden");
    expect(() => waitInWords(1, "en_GB")).toThrow(RangeError);
  });

  it("is never too short, and at most a sixtieth, or an hour of days, too long", () => {
    const sizes: Record<string, number> = { day: DAY, hour: HOUR, minute: MINUTE, second: SECOND };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 * DAY }), (ms) => {
        let said = 0;
        for (const [, count, unit] of plain(waitInWords(ms))!.matchAll(
          /([\d,]+) (\w+?)s?(?:,|$)/g,
        )) {
          said += Number(count!.replace(",", "")) * sizes[unit!]!;
        }
        const step = ms > DAY ? HOUR : ms > HOUR ? MINUTE : SECOND;
        expect(said).toBeGreaterThanOrEqual(ms);
        expect(said - ms).toBeLessThan(step);
      }),
    );
  });
});
