import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "../simulation/random.js";
import {
  type BoundedLimit,
  boundsOf,
  type BucketEvent,
  findDemand,
  findExcess,
} from "./lease-bounds.js";
import { type Mistake, modelOfLeases } from "./lease-model.js";

const grant = (at: number, count = 1, end = at): BucketEvent => event("grant", at, count, end);
const event = (kind: BucketEvent["kind"], start: number, count = 1, end = start): BucketEvent => ({
  kind,
  count,
  start,
  end,
});
/** 10 a second, up to 10. Blocks live for half a second. */
const bucket: BoundedLimit = { kind: "token bucket", rate: 10, period: 1000, leaseMs: 500 };
const withoutLeases: BoundedLimit = { ...bucket, leaseMs: 0 };
/** 10 a second, up to 15. Windows start at 200 ms. */
const window: BoundedLimit = {
  kind: "fixed window",
  rate: 10,
  period: 1000,
  capacity: 15,
  start: 200,
  leaseMs: 500,
};

describe("accepts", () => {
  it.each<[title: string, limit: BoundedLimit, events: BucketEvent[]]>([
    ["no event", bucket, []],
    ["all of the capacity at once", bucket, [grant(5, 10)]],
    ["what has refilled to the ms", bucket, [grant(0, 10), grant(100), grant(200)]],
    [
      "more than the capacity from calls that may have been apart",
      bucket,
      [grant(0, 10), grant(1, 10, 1001)],
    ],
    [
      "what was given back within the span",
      withoutLeases,
      [grant(0, 10), event("refund", 50, 3), grant(60, 3)],
    ],
    [
      "blocks of other processes after a reset",
      bucket,
      [event("reset", 50, 10), grant(60, 20), grant(800, 6)],
    ],
    ["a full bucket after a reset", bucket, [grant(0, 10), event("reset", 10, 10), grant(11, 10)]],
    [
      "what may have been given back without an answer",
      bucket,
      [grant(0, 10), event("refund", 50, 3, Infinity), grant(900, 12)],
    ],
    [
      "tokens of a block that is older than a charge",
      bucket,
      [grant(0, 5), event("charge", 10, 50), grant(400, 5)],
    ],
    [
      "tokens after a debt was repaid",
      bucket,
      [grant(0, 10), event("charge", 10, 50), grant(5200, 1)],
    ],
    ["two windows at their border", window, [grant(199, 15), grant(200, 10)]],
    [
      "what was given back within the window",
      window,
      [grant(250, 15), event("refund", 300, 2), grant(1100, 2)],
    ],
  ])("%s", (_, limit, events) => {
    expect(findExcess(events, boundsOf(limit))).toBeUndefined();
  });
});

describe("finds", () => {
  it.each<[title: string, limit: BoundedLimit, events: BucketEvent[]]>([
    ["one token too many at once", bucket, [grant(5, 11)]],
    ["a token that comes in a ms", bucket, [grant(0, 10), grant(100), grant(199)]],
    [
      "more than the capacity within the intervals of the calls",
      bucket,
      [grant(0, 10, 90), grant(10, 1, 20)],
    ],
    [
      "one token too many long after the bucket was full",
      bucket,
      [grant(0), ...Array.from({ length: 100 }, (_, i) => grant(1e6 + 90 * i))],
    ],
    ["more than was given back", bucket, [grant(0, 10), event("refund", 50, 3), grant(60, 4)]],
    ["what was given back to a full bucket", bucket, [event("refund", 50, 3), grant(51, 11)]],
    ["blocks long after a reset", bucket, [event("reset", 50, 10), grant(551, 11)]],
    ["what was given back too late", bucket, [grant(0, 11), event("refund", 1, 3)]],
    ["a grant in debt", bucket, [grant(0, 10), event("charge", 10, 50), grant(511, 1)]],
    ["one token too many in a window", window, [grant(250, 15), grant(1199, 1)]],
    [
      "one token too many in three windows",
      window,
      [grant(250, 15), grant(1250, 10), grant(2250, 11)],
    ],
    [
      "what a reset has brought in the window before",
      window,
      [event("reset", 1100, 2), grant(1250, 16)],
    ],
  ])("%s", (_, limit, events) => {
    expect(findExcess(events, boundsOf(limit))).toBeDefined();
  });

  it("the span, what was granted in it, and what would have been allowed", () => {
    const events = [grant(0, 3), grant(2000, 6), grant(2100, 6), grant(9000)];
    expect(findExcess(events, boundsOf(bucket))).toEqual({
      from: 2000,
      to: 2100,
      granted: 12,
      allowed: 11,
    });
  });

  it("less where the clocks may differ", () => {
    const events = [grant(0, 10), grant(50, 1)];
    expect(findExcess(events, boundsOf(bucket), 24)).toBeDefined();
    expect(findExcess(events, boundsOf(bucket), 25)).toBeUndefined();
  });
});

describe("the search for an excess", () => {
  const anyEvent = fc
    .record({
      kind: fc.constantFrom<BucketEvent["kind"]>(
        ...Array<"grant">(9).fill("grant"),
        "refund",
        "reset",
      ),
      count: fc.integer({ min: 1, max: 9 }),
      start: fc.nat(2000),
      length: fc.oneof(fc.constant(0), fc.nat(400)),
      isLost: fc.nat(5).map((dice) => dice === 0),
    })
    .map(({ kind, count, start, length, isLost }): BucketEvent => {
      return { kind, count, start, end: isLost && kind !== "grant" ? Infinity : start + length };
    });

  it("agrees with one that looks at all spans", () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(anyEvent, { minLength: 2, maxLength: 12 }),
        fc.constantFrom(bucket, withoutLeases, window),
        fc.constantFrom(0, 30),
        (events, limit, clockError) => {
          const excess = findExcess(events, boundsOf(limit), clockError);
          expect(excess !== undefined).toBe(hasExcess(events, limit, clockError));
          if (excess !== undefined) found++;
        },
      ),
      { numRuns: 3000, seed: 1 },
    );
    expect(found).toBeGreaterThan(300);
    expect(found).toBeLessThan(2700);
  });

  function hasExcess(
    events: readonly BucketEvent[],
    limit: BoundedLimit,
    clockError: number,
  ): boolean {
    const { capacity, supply, livesUntil } = boundsOf(limit);
    const times = events.flatMap(({ start, end }) => [start, end]).filter(Number.isFinite);
    return times.some((from) =>
      times.some((to) => {
        if (to < from) return false;
        let left = capacity + supply(to + clockError) - supply(from - clockError);
        for (const { kind, count, start, end } of events) {
          if (kind === "grant") {
            if (start >= from && end <= to) left -= count;
          } else {
            const until = kind === "reset" ? livesUntil(end) : end;
            if (start - clockError <= to && until + clockError >= from) left += count;
          }
        }
        return left < -1e-6;
      }),
    );
  }

  it("takes time in proportion to the length of the history, and its logarithm", () => {
    // A tree over 50,000 calls; a search of all pairs would take minutes.
    const events = Array.from({ length: 50_000 }, (_, i) => grant(100 * i, 1, 100 * i + 70));
    expect(findExcess(events, boundsOf(bucket))).toBeUndefined();
    expect(findExcess([...events, grant(2e6, 11)], boundsOf(bucket))).toBeDefined();
  });
});

describe("a model of leases", () => {
  const limits: BoundedLimit[] = [
    { kind: "token bucket", rate: 100, period: 1000, capacity: 100, leaseMs: 200 },
    { kind: "token bucket", rate: 20, period: 1000, capacity: 120, leaseMs: 1000 },
    { kind: "fixed window", rate: 100, period: 2000, leaseMs: 1000 },
  ];
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const violations = (limit: BoundedLimit, mistake?: Mistake) =>
    seeds.filter((seed) => {
      const events = modelOfLeases(limit, createRandom(seed), mistake);
      return findExcess(events, boundsOf(limit)) !== undefined;
    }).length;

  it.each(limits)("grants no more than $rate per $period ms of a $kind", (limit) => {
    expect(violations(limit)).toBe(0);
  });

  it.each<Mistake>(["naive", "given back", "prolonged"])(
    "grants more from a bucket with blocks that are %s",
    (mistake) => {
      for (const limit of limits.slice(0, 2)) expect(violations(limit, mistake)).toBeGreaterThan(0);
    },
  );

  it("grants more from a window with blocks that outlive it", () => {
    expect(violations(limits[2]!, "prolonged")).toBeGreaterThan(0);
  });
});

describe("spans of demand", () => {
  it("have what came and what was taken while calls were denied", () => {
    const events = [
      grant(0, 10),
      event("denial", 100),
      grant(300, 2),
      event("refund", 310, 1),
      event("denial", 400),
      event("charge", 450, 4),
      event("denial", 700),
      grant(800, 1),
      event("denial", 5000),
      event("denial", 5100),
    ];
    expect(findDemand(events, boundsOf(bucket), 500)).toEqual([
      { from: 100, to: 700, came: 6, taken: 5 },
      { from: 5000, to: 5100, came: 1, taken: 0 },
    ]);
  });
});
