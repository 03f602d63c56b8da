import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFullAt, usedAt } from "../../../core/rows/reading.js";
import { takeFromFull, takeTokens } from "../../../core/decide.js";
import { DAY, HOUR, MINUTE } from "../../../core/durations.js";
import {
  addUsage,
  counted,
  counterConfig,
  countOf,
  noCounts,
  spanAt,
  USAGE,
  usageIn,
  usageTerms,
} from "../../../core/rows/usage.js";
import type { Row } from "../../../core/rows/row.js";
import { canChargePlainly, mayBePlain } from "../../../server/store/plain-path.js";
import { rowId } from "../../../server/store/store.js";
import { cases } from "../../support/cases.js";

const START = Date.UTC(2030, 0, 1, 5);
const terms = usageTerms({ every: HOUR, keep: 2 * DAY });
const config = counterConfig(terms, START);

/** As a store charges a counter by itself. */
const charge = (row: Row | null, count: number) =>
  row === null ? takeFromFull(config, START, count) : takeTokens(row, config, START, count, 0)!;

describe("a counter", () => {
  it("adds whole numbers exactly, up to 2^53", () => {
    const whole = fc.array(fc.bigInt(1n, 2n ** 49n), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(whole, (counts) => {
        let row: Row | null = null;
        for (const count of counts) row = charge(row, Number(count));
        const sum = counts.reduce((all, each) => all + each, 0n);
        expect(BigInt(countOf(row))).toBe(sum);
        expect(row!.ts).toBe(START);
      }),
      { numRuns: cases(1000) },
    );
  });

  it("is charged by a statement as by a decision", () => {
    const numbers = fc.array(fc.double({ min: 2 ** -20, max: 2 ** 58, noNaN: true }), {
      minLength: 1,
      maxLength: 10,
    });
    fc.assert(
      fc.property(numbers, (counts) => {
        let [row, decided]: (Row | null)[] = [null, null];
        for (const count of counts) {
          row = charge(row!, count);
          decided = counted(decided!, START, count);
        }
        expect(row).toEqual(decided);
      }),
      { numRuns: cases(1000) },
    );
    const most = 2 ** 62;
    expect(counted({ used: most, ts: START }, START, 9).used).toBe(most);
    expect(counted({ used: 1, ts: START }, START, 2 ** 63).used).toBe(most);
  });

  it("may be charged by a store itself, of any count", () => {
    const limit = { isPlain: mayBePlain(config), part: config };
    const rows = [rowId("name", "key", 0, config)];
    for (const count of [2 ** -20, 1, 2 ** 53]) {
      expect(canChargePlainly({ limit, rows, count, floor: 0 })).toBe(true);
    }
  });

  it("gets nothing back until it has been kept, and is full then", () => {
    const row = charge(null, 2 ** 53);
    const end = START + HOUR + 2 * DAY;
    for (const now of [0, START - 1, START, START + HOUR, end - 1]) {
      expect(usedAt(row, config, now)).toEqual(row);
      expect(isFullAt(row, config, now)).toBe(false);
    }
    expect(isFullAt(row, config, end)).toBe(true);
    // As `prune` has it, which knows no start.
    const pruned = USAGE.configOf(
      { kind: "token bucket", rate: 1, period: 1, usage: { every: HOUR, keep: 2 * DAY } },
      DAY,
    )!;
    expect(isFullAt(row, pruned, end - 1)).toBe(false);
    expect(isFullAt(row, pruned, end)).toBe(true);
  });
});

describe("what counters have counted", () => {
  it("is what was added, with one counter for calls of one token", () => {
    const one = noCounts();
    for (let i = 0; i < 3; i++) addUsage(one, { granted: 1, taken: 1 });
    expect(one.filter((count) => count > 0)).toEqual([3]);
    const usage = fc.record({
      granted: fc.nat(2),
      denied: fc.nat(2),
      taken: fc.nat(1000),
      givenBack: fc.nat(1000),
    });
    fc.assert(
      fc.property(fc.array(usage), (all) => {
        const counts = noCounts();
        for (const each of all) addUsage(counts, each);
        const sum = (of: keyof (typeof all)[0]) => all.reduce((n, each) => n + each[of], 0);
        expect(usageIn(counts)).toEqual({
          granted: sum("granted"),
          denied: sum("denied"),
          taken: sum("taken"),
          givenBack: sum("givenBack"),
        });
      }),
      { numRuns: cases(500) },
    );
  });

  it("is of spans that begin at midnight UTC", () => {
    expect(spanAt(HOUR, START)).toBe(START);
    expect(spanAt(HOUR, START - 1)).toBe(START - HOUR);
    expect(spanAt(DAY, START)).toBe(Date.UTC(2030, 0, 1));
    expect(spanAt(15 * MINUTE, START + 44 * MINUTE)).toBe(START + 30 * MINUTE);
  });
});
