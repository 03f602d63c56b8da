/** Several plans read and write the shards of one limit, see `plans.properties.test.ts`. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chargeRows } from "../../core/charge.js";
import { capacityOf } from "../../core/config.js";
import { refundRateLimit } from "../../core/refund.js";
import { CLOSED } from "../../core/rows/bucket.js";
import type { Row } from "../../core/rows/row.js";
import { decideShardPair } from "../../core/shards.js";
import { cases } from "../support/cases.js";
import { anyCalls, anyPlans, atMost, left, PERIOD, same, T, upTo } from "./plans.js";

const RUNS = { numRuns: cases(5000) };

describe("two shards", () => {
  it("keep to the token what two plans have used of them", () => {
    fc.assert(
      fc.property(anyPlans, anyCalls, (parts, calls) => {
        let pair: [Row | null, Row | null] = [null, null];
        let kept = 0;
        let charged = 0;
        for (const { by, what, count: any } of calls) {
          const part = parts[by]!;
          // A call for more than two shards hold waits for ever.
          const count = any % (2 * capacityOf(part) + 1);
          const [a, b] = pair.map((row) => row?.used ?? 0) as [number, number];
          const holds = [a, b].map((used) => Math.max(0, capacityOf(part) - used));
          if (what === "take") {
            const { result, next, taken } = decideShardPair(pair, part, T, count);
            same(result.ok, holds[0]! + holds[1]! >= count);
            if (result.ok) {
              kept += count;
              same(taken[0] + taken[1], count);
            }
            pair = [next[0] ?? pair[0], next[1] ?? pair[1]];
          } else if (what === "charge") {
            const isOfLarger = Math.max(a, b) > capacityOf(part);
            const most = isOfLarger ? Infinity : holds[0]! + holds[1]!;
            const more = Math.min(count, most);
            pair = chargeRows(pair, part, T, more).next as [Row, Row];
            kept += more;
            charged += more;
          } else {
            const { next, rest } = refundRateLimit(pair, part, T, count);
            same(count - rest, Math.min(kept, count));
            kept -= count - rest;
            pair = [next[0] ?? pair[0], next[1] ?? pair[1]];
          }
          same((pair[0]?.used ?? 0) + (pair[1]?.used ?? 0), kept);
          atMost(kept - charged, 2 * capacityOf(parts[1]!));
        }
      }),
      RUNS,
    );
  });

  it("open when it was promised, and owe the same, whatever plan reads them", () => {
    const anyCase = fc.tuple(anyPlans, fc.integer({ min: 1, max: 5 * PERIOD }), upTo(300));
    fc.assert(
      fc.property(anyCase, fc.boolean(), ([parts, ms, debt], reserve) => {
        const end = T + Math.ceil(ms / PERIOD) * PERIOD;
        const closed: Row = { used: CLOSED, ts: end };
        const owing = chargeRows([null, null], parts[1]!, T, 2 * capacityOf(parts[1]!) + 2 * debt);
        for (const part of parts) {
          const first = part.kind === "fixed window" ? Math.min(part.rate, capacityOf(part)) : 0;
          const early = decideShardPair([closed, closed], part, end - 1, first, reserve);
          expect(early.result).toEqual({ ok: false, retryAfter: 1, value: 0 });
          expect(early.next).toEqual([undefined, undefined]);
          const later = decideShardPair([closed, closed], part, end, 2 * first);
          expect(later.result).toMatchObject({ ok: true, value: 0 });
          const owed = owing.next.map((row) => left(row, part, T));
          expect(owed).toEqual([0 - debt, 0 - debt]);
        }
      }),
      RUNS,
    );
  });
});
