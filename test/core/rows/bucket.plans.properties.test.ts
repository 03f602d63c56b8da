/**
 * Several plans read and write one row, each with numbers of its own. A row says what was used, so a change
 * of plan moves nothing: the properties are about what each plan reads, and what stays in the row.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chargeRows } from "../../../core/charge.js";
import { type Bucket, capacityOf, type PeriodicConfig, toleranceOf } from "../../../core/config.js";
import { decideRateLimit } from "../../../core/decide.js";
import { DAY } from "../../../core/durations.js";
import { refundRateLimit, refundTaken, type TakenTokens } from "../../../core/refund.js";
import { CLOSED, rowOf } from "../../../core/rows/bucket.js";
import type { Row } from "../../../core/rows/row.js";
import { cases } from "../../support/cases.js";
import {
  anyCalls,
  anyKind,
  anyPlan,
  anyPlans,
  atMost,
  left,
  PERIOD,
  PROGRAMS,
  same,
  T,
  upTo,
} from "../plans.js";

describe("one plan", () => {
  /** What is left, as two numbers, by the formulas of the model: min(capacity, value + refill). */
  interface Tokens {
    value: number;
    ts: number;
  }

  function tokensAt({ value, ts }: Tokens, plan: PeriodicConfig, now: number): Tokens {
    const { kind, rate, period } = plan;
    const periods = Math.max(0, now - ts) / period;
    const whole = kind === "fixed window" ? Math.floor(periods) : periods;
    return {
      value: Math.min(capacityOf(plan), value + whole * rate),
      ts: kind === "fixed window" ? ts + whole * period : Math.max(ts, now),
    };
  }

  const anyStep = fc.record({
    wait: fc.oneof(fc.constantFrom(0, 0, 1, PERIOD), fc.integer({ min: -50, max: 3 * PERIOD })),
    what: fc.constantFrom("take", "take", "reserve", "charge", "give back"),
    count: upTo(45),
  });

  it("grants and leaves what the tokens left would, with debts", () => {
    const anyProgram = fc.tuple(
      anyKind.chain(anyPlan),
      fc.constantFrom(0, 7, 1000),
      fc.array(anyStep, { minLength: 5, maxLength: 25 }),
    );
    fc.assert(
      fc.property(anyProgram, ([numbers, maxReserved, steps]) => {
        const plan = { ...numbers, maxReserved };
        let now = T;
        let row: Row | null = null;
        let tokens: Tokens = { value: capacityOf(plan), ts: 0 };
        for (const { wait, what, count } of steps) {
          now += wait;
          // A window of the calendar, in which a bucket without a row is full.
          const start = plan.kind === "fixed window" ? now - (now % PERIOD) : now;
          if (row === null) tokens = { value: capacityOf(plan), ts: start };
          const { value, ts } = tokensAt(tokens, plan, now);
          if (what === "charge") {
            row = chargeRows([row], plan, now, count).next[0]!;
            tokens = { value: value - count, ts };
          } else if (what === "give back") {
            row = refundRateLimit([row], plan, now, count).next[0] ?? row;
            const back = Math.min(capacityOf(plan) - value, count);
            // Where nothing comes back, nothing is written.
            if (back > 0) tokens = { value: value + back, ts };
          } else {
            const isReserved = what === "reserve";
            const { result, next } = decideRateLimit(row, plan, now, count, isReserved);
            same(result.ok, value - count >= (isReserved ? -maxReserved : 0));
            if (result.ok) tokens = { value: value - count, ts };
            same(result.value, tokensAt(tokens, plan, now).value);
            row = next ?? row;
          }
          for (const at of [now, now + 1, now + PERIOD]) {
            same(left(row, plan, at), tokensAt(tokens, plan, at).value);
          }
        }
      }),
      PROGRAMS,
    );
  });
});

/** The most that a plan may be charged for work that is done, without a debt: all, of a larger plan's row. */
const chargeable = (plan: Bucket, kept: number) =>
  kept > capacityOf(plan) ? Infinity : capacityOf(plan) - kept;

describe("two plans in one window", () => {
  it("keep to the token what was taken, charged and given back", () => {
    fc.assert(
      fc.property(anyPlans, anyCalls, upTo(PERIOD - 1), (plans, calls, within) => {
        const isWindow = plans[0]!.kind === "fixed window";
        let row: Row | null = null;
        let kept = 0;
        const open: TakenTokens[] = [];
        for (const [i, { by, what, count, which }] of calls.entries()) {
          // A token bucket refills between two instants, and a window does not.
          const now = T + (isWindow ? Math.floor((within * i) / calls.length) : 0);
          const plan = plans[by]!;
          if (what === "take") {
            const { result, next } = decideRateLimit(row, plan, now, count);
            same(result.ok, count === 0 || kept + count <= capacityOf(plan));
            if (result.ok) {
              kept += count;
              open.push({ ...next!, count });
            }
            row = next ?? row;
          } else if (what === "charge") {
            const charged = Math.min(count, chargeable(plan, kept));
            row = chargeRows([row], plan, now, charged).next[0]!;
            kept += charged;
          } else if (what === "give back some") {
            const { next, rest } = refundRateLimit([row], plan, now, count);
            row = next[0] ?? row;
            same(count - rest, Math.min(kept, count));
            kept -= count - rest;
          } else if (open.length > 0) {
            const [taken] = open.splice(which % open.length, 1) as [TakenTokens];
            const back = Math.min(kept, taken.count);
            const { next, refunded } = refundTaken([row], plan, now, taken.count, [taken]);
            row = next[0] ?? row;
            same(refunded[0], back);
            kept -= back;
          }
          same(row?.used ?? 0, kept);
          for (const each of plans) {
            same(left(row, each, now), Math.max(0, capacityOf(each) - kept));
          }
        }
      }),
      PROGRAMS,
    );
  });

  it("let no more through at one instant than the larger one holds", () => {
    fc.assert(
      fc.property(anyPlans, anyCalls, (plans, calls) => {
        let row: Row | null = null;
        let granted = 0;
        for (const { by, count } of calls) {
          const { result, next } = decideRateLimit(row, plans[by]!, T, count % 7);
          if (result.ok) granted += count % 7;
          row = next ?? row;
        }
        atMost(granted, capacityOf(plans[1]!));
      }),
      PROGRAMS,
    );
  });
});

describe("after an upgrade", () => {
  it("the new capacity is there at once, less what was used", () => {
    fc.assert(
      fc.property(anyPlans, upTo(40), (plans, count) => {
        const [free, pro] = plans as [PeriodicConfig, PeriodicConfig];
        const { next = null } = decideRateLimit(null, free, T, count);
        const used = next === null ? 0 : count;
        same(left(next, pro, T), capacityOf(pro) - used);
        const all = decideRateLimit(next, pro, T, capacityOf(pro) - used);
        expect(all.result).toMatchObject({ ok: true, value: 0 });
      }),
      PROGRAMS,
    );
  });

  it("a late call by the old plan is denied and cuts nothing", () => {
    fc.assert(
      fc.property(anyPlans, upTo(40), upTo(45), upTo(PERIOD), (plans, used, count, ms) => {
        const [free, pro] = plans as [PeriodicConfig, PeriodicConfig];
        fc.pre(used >= capacityOf(free) && used <= capacityOf(pro));
        const row = decideRateLimit(null, pro, T, used).next!;
        const late = decideRateLimit(row, free, T, count);
        same(late.result.ok, count === 0);
        same(left(late.next ?? row, pro, T + ms), left(row, pro, T + ms));
        same(left(late.next ?? row, free, T + ms), left(row, free, T + ms));
      }),
      PROGRAMS,
    );
  });
});

describe("after a downgrade", () => {
  it("a call is answered as from a bucket that was empty when it was last used, or better", () => {
    const anyCase = fc.tuple(anyPlans, upTo(40), upTo(45), upTo(4 * PERIOD), fc.boolean());
    fc.assert(
      fc.property(anyCase, ([plans, used, count, ms, reserve]) => {
        const [free, pro] = plans as [PeriodicConfig, PeriodicConfig];
        const row = decideRateLimit(null, pro, T, Math.min(used, capacityOf(pro))).next!;
        const empty = rowOf(free, capacityOf(free), T);
        const now = T + ms;
        atMost(left(empty, free, now), left(row, free, now));
        atMost(left(row, free, now), capacityOf(free));
        if (row.used < capacityOf(free)) return;
        const [ours, theirs] = [row, empty].map((each) =>
          decideRateLimit(each, free, now, count, reserve),
        );
        const { value, ...answer } = ours!.result;
        const { value: expected, ...other } = theirs!.result;
        expect(answer).toEqual(other);
        // The instant in the row of the larger one has parts of a ms.
        atMost(expected, value);
        atMost(value, expected + free.rate / free.period / 1000);
      }),
      PROGRAMS,
    );
  });

  it("tokens that come back later take nothing away that has refilled", () => {
    const anyBack = fc.record({ wait: upTo(PERIOD / 2), count: upTo(10) });
    const backs = fc.array(anyBack, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(anyPlans, backs, (plans, steps) => {
        const [free, pro] = plans as [PeriodicConfig, PeriodicConfig];
        let row = decideRateLimit(null, pro, T, capacityOf(pro)).next!;
        let now = T;
        for (const { wait, count } of steps) {
          now += wait;
          const before = left(row, free, now);
          const { next, value } = refundRateLimit([row], free, now, count);
          row = next[0] ?? row;
          atMost(before, left(row, free, now));
          atMost(left(row, free, now), before + count);
          same(value, left(row, free, now));
        }
      }),
      PROGRAMS,
    );
  });
});

describe("a closing", () => {
  const anyReader = fc.oneof(
    anyKind.chain(anyPlan),
    anyPlan("fixed window").map((plan): Bucket => ({ ...plan, period: "month" }) as Bucket),
    anyPlan("fixed window").map((plan): Bucket => ({ ...plan, period: 777, start: 5 }) as Bucket),
  );
  const anyClosing = fc.record({
    blockFor: fc.integer({ min: 1, max: 5 * PERIOD }),
    afterBlock: fc.constantFrom("next window" as const, "new window" as const),
    used: upTo(40),
    ms: upTo(3 * PERIOD),
    // On any day of a month, and for longer than one.
    day: upTo(366),
    days: fc.constantFrom(0, 0, 40),
  });

  it("ends when it was promised, whatever plan reads it", () => {
    const parts = fc.tuple(
      anyKind.chain(anyPlan),
      anyReader,
      anyClosing,
      fc.double({ min: 0, max: 1, noNaN: true }),
    );
    fc.assert(
      fc.property(parts, ([plan, reader, { afterBlock, used, ms, day, days, ...any }, part]) => {
        const start = T + day * DAY;
        const blockFor = any.blockFor + days * DAY;
        const isWindow = plan.kind === "fixed window";
        const closing = { ...plan, blockFor, ...(isWindow && { afterBlock }) } as PeriodicConfig;
        const now = start + ms;
        const row = decideRateLimit(null, plan, start, Math.min(used, capacityOf(plan))).next!;
        const { result, next } = decideRateLimit(row, closing, now, capacityOf(plan));
        fc.pre(!result.ok);
        const end = next!.ts;
        const exact = !isWindow || afterBlock === "new window";
        if (exact) same(end, now + blockFor);
        else same(end, start + Math.ceil((ms + blockFor) / PERIOD) * PERIOD);
        expect(next).toEqual({ used: CLOSED, ts: end });
        const { rate } = reader;
        const first = reader.kind === "fixed window" ? Math.min(rate, capacityOf(reader)) : 0;
        // Denied at every instant before, for no tokens too, and nothing comes back.
        for (const at of [now, end - 1, now + Math.floor(part * (end - 1 - now))]) {
          same(left(next!, reader, at), 0);
          const asked = decideRateLimit(next!, reader, at, first, at === end - 1);
          same(asked.result.ok, false);
          same(asked.result.retryAfter, end - at);
          same(asked.result.value, 0);
          same(asked.next, undefined);
          same(refundRateLimit([next!], reader, at, 9).rest, 9);
        }
        same(left(next!, reader, end), first);
        expect(decideRateLimit(next!, reader, end, first).result).toMatchObject({
          ok: true,
          value: 0,
        });
        if (reader.kind === "fixed window") return;
        const one = Math.ceil((reader.period - toleranceOf(reader)) / rate);
        expect(decideRateLimit(next!, reader, end, 1).result).toMatchObject({ retryAfter: one });
      }),
      { numRuns: cases(10_000) },
    );
  });
});

describe("a debt", () => {
  it("is the same for every plan, and each repays it by its own rate", () => {
    const anyCase = fc.tuple(anyPlans, upTo(1), fc.integer({ min: 1, max: 200 }), fc.boolean());
    fc.assert(
      fc.property(anyCase, upTo(8), ([plans, by, debt, isCharged], periods) => {
        const plan = plans[by]!;
        const count = capacityOf(plan) + debt;
        const row = isCharged
          ? chargeRows([null], plan, T, count).next[0]!
          : decideRateLimit(null, plan, T, count, true).next!;
        expect(row).toEqual({ used: -debt, ts: T });
        for (const each of plans) {
          same(left(row, each, T), -debt);
          const owed = -debt + periods * each.rate;
          const later = T + periods * PERIOD;
          same(left(row, each, later), Math.min(owed, capacityOf(each)));
          same(decideRateLimit(row, each, later, 0).result.ok, owed >= 0);
        }
      }),
      PROGRAMS,
    );
  });
});
