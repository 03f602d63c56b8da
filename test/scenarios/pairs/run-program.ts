/** Runs programs that use two features of a limit, beside the model. */
import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import type { RateLimitConfig } from "../../../core/limit-config.js";
import {
  type EnterGranted,
  type RateLimitStore,
  RateLimitStoreError,
} from "../../../server/index.js";
import type { Program, Step } from "./any-program.js";
import { isLeased as leased, mayBeOld, type Pair } from "./features.js";
import { CountedUsage, sameUsage } from "./counted-usage.js";
import { holdActs } from "./hold-acts.js";
import { ADDED, type Call, KEY, Model, type Override } from "./model.js";
import { openPair, type Scope } from "./open-pair.js";
import { type Answer, sameAnswer } from "./same-answer.js";

const twice = (config: RateLimitConfig): RateLimitConfig => ({
  ...config,
  rate: 2 * config.rate,
  capacity: 2 * config.capacity! + ADDED,
});

/** What an override says, by its kind. */
const RULES = {
  times: { times: 2 },
  add: { add: ADDED },
  unlimited: { unlimited: true },
  blocked: { blocked: true },
} as const;

/** Runs a program, and compares each answer with the model. Returns how many calls were granted. */
export async function runProgram(
  pair: Pair,
  { variant, steps }: Program,
  inner: RateLimitStore,
): Promise<number> {
  let isOut = false;
  const { has, config, configs, clock, store, limiters } = openPair(
    pair,
    variant,
    inner,
    () => isOut,
  );
  // With blocks, calls get no more than a limit without them allows, in any span. Overrides
  // double it, and add to it.
  const isLeased = leased(pair);
  const bound = has("override") && config.kind !== "credits" ? twice(config) : config;
  const model = new Model(isLeased ? [bound, bound] : configs);
  const slots: EnterGranted[] = [];
  const counted = new CountedUsage();
  const begun = clock();
  let granted = 0;

  /** Compares an answer with the model, and takes there what it has taken. */
  function agree(answer: Answer, call: Call): void {
    const now = clock();
    counted.answered(answer, call);
    const fixed = model.fixed(call.by, now) !== undefined;
    if (answer.storeFailed) return expect([isOut, fixed]).toEqual([true, false]);
    if (answer.remembered && mayBeOld(pair)) return;
    const isGranted = answer.ok && answer.shadow === undefined;
    if (isGranted && !fixed) granted++;
    if (isLeased && !fixed) {
      if (isGranted) expect(model.decide(call, now)).toMatchObject({ ok: true });
      return;
    }
    if (isOut && !fixed) expect(answer.remembered).toBe(true);
    const undo = model.mark();
    const expected = model.limit(call, now);
    if (answer.shards !== undefined) {
      undo();
      expect(answer.shards.reduce((sum, { count }) => sum + count, 0)).toBeCloseTo(call.count, 9);
      expect(model.takeFrom(answer.shards, call.by, now)).toBe(true);
    }
    // Its wait and its value are those of the state that it remembers.
    if (answer.remembered) expect(expected.ok).toBe(false);
    else same(answer, expected);
  }

  const same = (answer: Answer, expected: Answer) => sameAnswer(pair, answer, expected);

  const optionsOf = ({ count, id, hold }: Call) => {
    return { key: KEY, count, ...(id && { once: id }), ...(hold && { hold }) };
  };
  async function limit(call: Call, scope: Scope = limiters[call.by]!): Promise<void> {
    agree(await scope.limit("limit", optionsOf(call)), call);
  }

  const holding = holdActs({ model, limiters, clock, isLeased, isOut: () => isOut, limit });

  const undone = new Error("undone");
  /** Runs some calls in a transaction. Nothing is left of them in the rows if it fails. */
  async function inTransaction(
    step: Step,
    uncounted: () => void,
    begin: (run: (scope: Scope) => Promise<void>) => Promise<unknown>,
  ): Promise<void> {
    const { call, which, fails } = step;
    const [undo, wasOut] = [model.mark(), isOut];
    const running = begin(async (scope) => {
      // It may be tried again.
      undo();
      uncounted();
      for (let i = 0; i <= which % 3; i++) await limit(call, scope);
      if (has("hold")) await holding.inside(step, scope);
      isOut = has("fail-open") && which > 10;
      if (isOut) await limit(call, scope);
      if (fails) throw undone;
    });
    const error = await running.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error !== undefined) {
      undo();
      uncounted();
    }
    if (isOut) expect(error).toBeInstanceOf(RateLimitStoreError);
    else expect(error).toBe(fails ? undone : undefined);
    isOut = wasOut;
  }

  const acts: Record<string, (step: Step) => Promise<void>> = {
    limit: ({ call }) => limit(call),
    async check({ call }) {
      const answer: Answer = await limiters[call.by]!.check("limit", {
        key: KEY,
        count: call.count,
      });
      if (!answer.storeFailed && !isLeased) same(answer, model.check(call, clock()));
    },
    async value({ call: { by } }) {
      if (isOut || isLeased || model.fixed(by, clock()) !== undefined) return;
      const { value, held } = await limiters[by]!.getValue("limit", { key: KEY });
      model.held?.reclaim(by, clock());
      expect(held).toEqual(model.held?.sum());
      expect(value).toBeCloseTo(model.value(by, clock()), 6);
    },
    async override({ call: { by }, which }) {
      if (isOut) return;
      const { overrides } = limiters[by]!;
      const kinds: readonly Override[] = ["times", "unlimited", "blocked", "add"];
      const kind = kinds[which % 4]!;
      // The terms that a lease is bound by are those of both.
      const isBound = isLeased && (kind === "times" || kind === "add");
      if (which > 17) {
        model.clear();
        await overrides.clear("limit", { key: KEY });
      } else if (which > 11) {
        model.clear(kind);
        await overrides.clear("limit", { key: KEY, only: kind });
      } else if (kind !== "add" || config.kind !== "credits") {
        if (!isBound) model.set(kind);
        await overrides.set("limit", { key: KEY, ...RULES[kind] });
      }
    },
    async credit({ call: { by, count } }) {
      const crediting = limiters[by]!.credit("limit", { key: KEY, count: 2 * count });
      if (isOut) return expect(crediting).rejects.toThrow(RateLimitStoreError);
      const { value } = await crediting;
      expect(value).toBeCloseTo(model.credit(by, 2 * count, clock()), 6);
    },
    async outage() {
      isOut = !isOut;
    },
    async enter({ call }) {
      const { by, count } = call;
      const [now, held] = [clock(), model.slots(clock())];
      const items = [{ name: "limit", key: KEY, count }];
      const entering = limiters[by]!.enter("work", { key: KEY, with: items });
      if (isOut) return expect(entering).rejects.toThrow(RateLimitStoreError);
      const entered = await entering;
      if (entered.ok) {
        expect(held).toBeLessThan(has("rolling deployment") ? 3 : 2);
        agree(entered.results[0]!, call);
        model.enter(entered, now);
        slots.push(entered);
      } else if (entered.name === "limit") {
        agree(entered.results[0]!, call);
      } else {
        expect(held).toBeGreaterThanOrEqual(2);
        // Its tokens were there, and stay.
        const undo = model.mark();
        if (!isLeased) expect(model.limit(call, now)).toMatchObject({ ok: true });
        undo();
      }
    },
    async release({ which }) {
      const [slot] = slots.splice(which % Math.max(1, slots.length), 1);
      if (slot === undefined || isOut) return;
      await slot.release();
      model.holders.delete(slot);
    },
    hold: (step) => holding.hold(step),
    end: (step) => holding.end(step),
    transaction: (step) =>
      inTransaction(step, counted.mark(), (run) =>
        limiters[step.call.by]!.transaction(({ tx, ...scope }) =>
          run(has("using") ? limiters[step.call.by]!.using(tx) : scope),
        ),
      ),
    using: (step) =>
      // It is counted when it is answered, whatever follows.
      inTransaction(
        step,
        () => {},
        (run) => store.transaction!((tx) => run(limiters[step.call.by]!.using(tx)), {}),
      ),
  };

  await limiters[0]!.forget(KEY);
  if (isLeased) {
    // Until it has a block.
    for (let i = 0; i < 60; i++) await limit({ by: 0, count: 1, id: undefined });
  }
  for (const step of steps) {
    clock.advance(step.after);
    // The next block of a lease may be on its way.
    if (isLeased) for (let i = 0; i < 5; i++) await setImmediate();
    await acts[step.act]!(step);
  }
  isOut = false;
  await Promise.all(slots.map((slot) => slot.release()));
  if (has("usage")) await sameUsage(limiters, counted.with(model.held?.used), [begun, clock()]);
  return granted;
}
