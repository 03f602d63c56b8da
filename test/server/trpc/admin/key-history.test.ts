/** What a process remembers of its keys over a week: as exact as it must be, and no more than it may. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../../core/durations.js";
import { KeyHistory } from "../../../../server/trpc/admin/key-history.js";

const START = 20_000 * DAY;

describe("the history of keys", () => {
  it("tells apart ten minutes of the last hour, hours of the last day, and days of the week", () => {
    const history = new KeyHistory();
    // One denial every ten minutes, for nine days.
    const end = START + 9 * DAY;
    for (let at = START; at < end; at += 10 * MINUTE) history.add(at, "ann", { denied: 1 });
    const denied = (from: number, to = end) => history.top(from, to).total.denied;
    expect(denied(end - 10 * MINUTE)).toBe(1);
    expect(denied(end - HOUR)).toBe(6);
    expect(denied(end - 5 * HOUR, end - 4 * HOUR)).toBe(6);
    expect(denied(end - DAY)).toBe(144);
    expect(denied(end - 3 * DAY, end - 2 * DAY)).toBe(144);
    expect(denied(end - 7 * DAY)).toBe(7 * 144);
    // A range within a longer span is that of the whole span.
    expect(denied(end - 5 * HOUR, end - 5 * HOUR + MINUTE)).toBe(6);
    // What is older than a week is gone, at the latest after another day.
    expect(denied(0)).toBeLessThanOrEqual(8 * 144);
    expect(history.top(0, end).keys).toEqual(
      new Map([["ann", { granted: 0, denied: denied(0), taken: 0 }]]),
    );
  });

  it("has the denials, the tokens and the calls of a key together, and those without a key", () => {
    const history = new KeyHistory();
    history.add(START, "ann", { granted: 1, taken: 5 });
    history.add(START, "ann", { denied: 1 });
    history.add(START + HOUR, "ann", { taken: 2 });
    history.add(START + HOUR, "", { granted: 1, taken: 1 });
    // A clock that goes back.
    history.add(START, "bob", { denied: 1 });
    expect(history.top(START, START + 2 * HOUR)).toEqual({
      total: { granted: 2, denied: 2, taken: 8 },
      keys: new Map([
        ["ann", { granted: 1, denied: 1, taken: 7 }],
        ["", { granted: 1, denied: 0, taken: 1 }],
        ["bob", { granted: 0, denied: 1, taken: 0 }],
      ]),
    });
    expect(history.top(START + 2 * HOUR, START + 3 * HOUR).keys.size).toBe(0);
  });

  it("is bounded, however many keys come for however long", () => {
    const history = new KeyHistory();
    for (let i = 0; i < 200_000; i++) {
      const at = START + i * 5 * MINUTE;
      history.add(at, `key ${i}`, i % 2 === 0 ? { denied: 1 } : { granted: 1, taken: 1 });
    }
    const many = new KeyHistory();
    const minutes = 9 * 24 * 60;
    for (let i = 0; i < 30 * minutes; i++) {
      const usage = i % 2 === 0 ? { denied: 1 } : { granted: 1, taken: 1 };
      many.add(START + Math.floor(i / 30) * MINUTE, `key ${i}`, usage);
    }
    const all = many.top(0, Infinity);
    expect(all.keys.size).toBeLessThanOrEqual(43 * 200);
    expect(all.keys.size).toBeGreaterThan(20 * 200);
    // The totals are exact all the same.
    const { total } = many.top(START + 8 * DAY, Infinity);
    expect(total).toEqual({ granted: 21_600, denied: 21_600, taken: 21_600 });
    expect(history.top(0, Infinity).keys.size).toBeLessThanOrEqual(43 * 200);
  });
});
