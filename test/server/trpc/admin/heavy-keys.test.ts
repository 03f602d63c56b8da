/** The summary of the keys with the most keeps its promises, whatever comes in whatever order. */
import { describe, expect, it } from "vitest";
import { HeavyKeys, KEPT_KEYS } from "../../../../server/trpc/admin/heavy-keys.js";
import { createRandom } from "../../../support/seeded-random.js";

type Stream = readonly (readonly [key: string, count: number])[];

/** Few keys with much, and many with little, in any order. */
function stream(seed: number, length: number): Stream {
  const random = createRandom(seed);
  return Array.from({ length }, () => {
    const key = Math.floor(random() ** 6 * 5000);
    return [`key ${key}`, 1 + Math.floor(random() * 3)];
  });
}

function sumsOf(all: Stream): { byKey: Map<string, number>; total: number } {
  const byKey = new Map<string, number>();
  for (const [key, count] of all) byKey.set(key, (byKey.get(key) ?? 0) + count);
  return { byKey, total: [...byKey.values()].reduce((a, b) => a + b, 0) };
}

function summaryOf(all: Stream): HeavyKeys {
  const summary = new HeavyKeys();
  for (const [key, count] of all) summary.add(key, count, 1);
  return summary;
}

function expectPromises(summary: HeavyKeys, all: Stream): void {
  const { byKey, total } = sumsOf(all);
  const kept = new Map([...summary.keys()].map((each) => [each.key, each]));
  expect(kept.size).toBeLessThanOrEqual(KEPT_KEYS);
  for (const [key, count] of byKey) {
    const { seen, missed } = kept.get(key) ?? { seen: 0, missed: total };
    expect(seen).toBeLessThanOrEqual(count);
    expect(seen + missed).toBeGreaterThanOrEqual(count);
    expect(count - seen).toBeLessThanOrEqual(total / KEPT_KEYS);
    if (count > total / KEPT_KEYS) expect(seen).toBeGreaterThan(0);
  }
}

describe("the keys with the most", () => {
  it.each([1, 2, 3, 4, 5])("are kept, and no number is too high (stream %i)", (seed) => {
    const all = stream(seed, 20_000);
    expect(sumsOf(all).byKey.size).toBeGreaterThan(10 * KEPT_KEYS);
    expectPromises(summaryOf(all), all);
  });

  it("are exact where there are few keys", () => {
    const all = stream(6, 20_000).filter(([key]) => key.length < 6);
    const { byKey } = sumsOf(all);
    const kept = [...summaryOf(all).keys()].map(({ key, seen, missed }) => [key, [seen, missed]]);
    expect(new Map(kept as never)).toEqual(
      new Map([...byKey].map(([key, sum]) => [key, [sum, 0]])),
    );
  });

  it("stay in a flood of keys that come once each", () => {
    const summary = new HeavyKeys();
    for (let i = 0; i < 100_000; i++) {
      summary.add(`once ${i}`, 1, 0);
      if (i % 20 === 0) summary.add("often", 1, 0);
    }
    const often = [...summary.keys()].find(({ key }) => key === "often")!;
    expect(5000 - often.seen).toBeLessThanOrEqual(105_000 / KEPT_KEYS);
  });

  it.each([7, 8, 9])("are those of all spans, once the spans are merged (stream %i)", (seed) => {
    const parts = Array.from({ length: 12 }, (_, i) => stream(100 * seed + i, 3000));
    expectPromises(HeavyKeys.merge(parts.map(summaryOf)), parts.flat());
    // One after the other, as they get older.
    let merged = new HeavyKeys();
    for (const part of parts) merged = HeavyKeys.merge([merged, summaryOf(part)]);
    expectPromises(merged, parts.flat());
  });
});
