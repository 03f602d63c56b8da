/** Random programs of claims on one draft, beside the same claims applied one after the other. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { bucketConfig } from "../../../../core/rows/credits.js";
import { DAY, HOUR, MINUTE } from "../../../../core/durations.js";
import { allOf } from "../../../../server/limiter/claims/all-of.js";
import { eachOf, firstOf, Payer } from "../../../../server/limiter/claims/first-of.js";
import { TokenClaim } from "../../../../server/limiter/claims/token-claim.js";
import { type Claim, ClaimDecision, type Draft } from "../../../../server/limiter/claims/draft.js";
import { markerRow } from "../../../../server/limiter/claims/markers.js";
import { once } from "../../../../server/limiter/claims/once.js";
import { resolveLimit } from "../../../../server/limiter/limits/resolved-limit.js";
import { rowKey } from "../../../../server/store/store.js";
import {
  payEach,
  payFirst,
  type Rows,
  takeAll,
  takeOnce,
  takeTokens,
  type Wanted,
} from "./turns.js";

const CASES = Number(process.env["DIFFERENTIAL_CASES"] ?? 2000);
const START = Date.UTC(2030, 0, 1);

const limits = [
  { kind: "token bucket", rate: 7, period: HOUR, capacity: 5, maxReserved: 4 },
  { kind: "fixed window", rate: 4, period: HOUR, capacity: 6 },
  { kind: "token bucket", rate: 3, period: MINUTE, blockFor: [MINUTE, HOUR] },
  { kind: "fixed window", rate: 3, period: MINUTE, blockFor: 10 * MINUTE },
  { kind: "token bucket", rate: 2, period: HOUR, shadow: true },
  { kind: "token bucket", rate: 1 / 3, period: DAY, capacity: 9, shards: 2, maxReserved: 3 },
  bucketConfig({ kind: "credits" }),
] as const;
const resolved = limits.map((config, i) => resolveLimit(`limit ${i}`, "k", "k", config));
const shardRow = {
  ...resolved[5]!.rows[0],
  shard: 1,
  id: `${resolved[5]!.rows[0].id!.slice(0, -1)}1`,
};
const rowsOf = (i: number) =>
  i === 5 ? [resolved[5]!.rows[0], shardRow] : (resolved[i]!.counted ?? resolved[i]!.rows);

const anyWanted = fc
  .record({
    of: fc.integer({ min: 0, max: limits.length - 1 }),
    count: fc.constantFrom(0, 1, 1, 2, 3, 4.5),
    reserve: fc.boolean(),
    id: fc.option(fc.constantFrom("x", "y")),
  })
  .map(({ of, count, reserve, id }): Wanted => {
    const limit = resolved[of]!;
    const onceFor = 10 * MINUTE;
    const marker =
      id === null || of === 5
        ? undefined
        : { row: markerRow(limit.name, `k|${id}`, onceFor, "take"), onceFor };
    // Counts that no wait could satisfy are refused before the decision.
    const most = of === 6 ? 4.5 : Math.min(2, limits[of]!.rate);
    const wanted = { limit, count: of === 5 ? count : Math.min(count, most), maxWait: undefined };
    return { ...wanted, reserve: reserve && of === 0, rows: rowsOf(of), marker };
  });

type Step = { after: number } & (
  | { kind: "limit" | "check"; wanted: Wanted }
  | { kind: "all" | "first"; all: Wanted[] }
  | { kind: "each"; all: Wanted[]; count: number }
);

const after = fc.constantFrom(0, 0, 1, MINUTE, 20 * MINUTE, 5 * HOUR);
const several = fc.array(anyWanted, { minLength: 1, maxLength: 4 });
const distinct = fc.uniqueArray(anyWanted, {
  minLength: 1,
  maxLength: 4,
  selector: ({ limit }) => limit.name,
});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    after,
    kind: fc.constantFrom("limit" as const, "check" as const),
    wanted: anyWanted,
  }),
  fc.record({ after, kind: fc.constant("all" as const), all: several }),
  fc.record({ after, kind: fc.constant("first" as const), all: distinct }),
  fc.record({
    after,
    kind: fc.constant("each" as const),
    all: distinct,
    count: fc.integer({ min: 1, max: 9 }),
  }),
);

const open = (all: readonly Wanted[]) =>
  all.map((request) => {
    // `limitFirst` closes nothing, so it does not read how often a bucket was closed.
    const rows = request.limit.counted === undefined ? request.rows : request.limit.rows;
    return { ...request, rows };
  });
const onceOf = (wanted: Wanted) => {
  const claim = new TokenClaim(wanted, wanted.rows);
  return wanted.marker === undefined ? claim : once(claim, wanted.limit, wanted.marker);
};
const payersOf = (all: readonly Wanted[]) => open(all).map((each) => new Payer(each, each.rows));

/** The answer of a step, by claims on a draft. */
function draftAnswer(draft: Draft, step: Step, now: number): unknown {
  if ("wanted" in step) {
    const { kind, wanted } = step;
    if (kind === "limit") return onceOf(wanted).attempt(draft, now);
    return new TokenClaim(wanted, wanted.rows, false).attempt(draft.fork(), now);
  }
  const { all } = step;
  if (step.kind === "all") {
    const claim = allOf(all.map(onceOf));
    const { ok, results, retryAfter } = claim.attempt(draft, now);
    return { ok, results, retryAfter };
  }
  const payers = payersOf(all);
  const claim = "count" in step ? eachOf(payers, step.count) : firstOf(payers);
  return claim.attempt(draft, now).asked.map(({ paid }) => paid);
}

/** The answer of a step, applied to the rows. */
function turnAnswer(rows: Rows, stored: Rows, step: Step, now: number): unknown {
  if ("wanted" in step) {
    const { kind, wanted } = step;
    if (kind === "limit") return takeOnce(rows, stored, wanted, now);
    return takeTokens(new Map(rows), wanted, now, false);
  }
  if (step.kind === "all") return takeAll(rows, stored, step.all, now);
  if ("count" in step) return payEach(rows, open(step.all), step.count, now);
  return payFirst(rows, open(step.all), now);
}

function programOf(steps: readonly Step[]): Claim<unknown[]> {
  const wanted = steps.flatMap((step) => ("wanted" in step ? [step.wanted] : step.all));
  return {
    rows: wanted.flatMap(({ rows, marker }) => (marker ? [...rows, marker.row] : rows)),
    attempt(draft, start) {
      let now = start;
      return steps.map((step) => draftAnswer(draft, step, (now += step.after)));
    },
  };
}

const anyState = fc.option(
  fc.record({
    used: fc.constantFrom(-3, -1, 0, 0.5, 1, 2, 3, 5),
    ts: fc.constantFrom(0, -MINUTE, -HOUR, 5).map((ms) => START + ms),
  }),
);

it(`claims on one draft come to the same as one after the other, in ${CASES} programs`, () => {
  const program = fc.array(anyStep, { minLength: 1, maxLength: 5 });
  const states = fc.array(anyState, { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(program, states, anyState, (steps, given, other) => {
      const decision = new ClaimDecision(programOf(steps), () => START);
      const before = decision.rows.map((_, i) => given[i]!);
      const { result, writes } = decision.decide(before);
      const stored: Rows = new Map(decision.rows.map((row, i) => [rowKey(row), before[i]!]));
      const rows = new Map(stored);
      let now = START;
      expect(result).toEqual(
        steps.map((step) => turnAnswer(rows, stored, step, (now += step.after))),
      );
      const left = decision.rows.map((_, i) => writes?.[i] ?? before[i]!);
      expect(left).toEqual(decision.rows.map((row) => rows.get(rowKey(row))!));
      if (writes === undefined) return;

      // Whatever becomes of a row that is neither written nor guarded, the writes stay right.
      const changed = before.map((state, i) => (writes[i] === undefined ? other : state));
      const isShard = decision.rows.some(
        ({ name }, i) => name === "limit 5" && writes[i] === undefined,
      );
      if (!isShard) expect(decision.decide(changed).writes).toEqual(writes);
    }),
    { numRuns: CASES },
  );
});
