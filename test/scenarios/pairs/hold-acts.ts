/** The acts of programs with holds: taking and ending them, beside the model. */
import { expect } from "vitest";
import { MINUTE, SECOND } from "../../../core/durations.js";
import { RateLimitStoreError } from "../../../server/index.js";
import type { Terms } from "../../server/limiter/holds/holds-model.js";
import type { Step } from "./any-program.js";
import { type Call, KEY, type Model } from "./model.js";
import type { Scope } from "./open-pair.js";

interface Parts {
  model: Model;
  limiters: readonly Scope[];
  clock(): number;
  isLeased: boolean;
  isOut(): boolean;
  /** Makes a call, and compares its answer. */
  limit(call: Call, scope?: Scope): Promise<void>;
}

export function holdActs({ model, limiters, clock, isLeased, isOut, limit }: Parts) {
  const hold = ({ call, which, fails }: Step, scope?: Scope) => {
    const ms = [20 * SECOND, 2 * MINUTE, 10 * MINUTE][which % 3]!;
    const terms: Terms = { for: ms, then: fails ? "keep" : "release" };
    return limit({ ...call, id: call.id ?? "x", hold: terms }, scope);
  };

  /** Ends a hold, perhaps one that the other process has taken, or that is over. */
  async function end({ call, which }: Step, scope: Scope = limiters[call.by]!): Promise<void> {
    const { by, count, id = "x" } = call;
    const used = [0, count / 2, count, 3 * count, undefined][which % 6];
    const of = { key: KEY, once: id };
    const isReleased = which % 6 === 5;
    const ending = isReleased ? scope.release("limit", of) : scope.settle("limit", of, used);
    if (isOut()) return expect(ending).rejects.toThrow(RateLimitStoreError);
    const ended = await ending;
    const ok = "settled" in ended ? ended.settled : ended.released;
    const expected = model.held!.end(by, id, isReleased ? 0 : used, clock());
    expect(ok).toBe(expected.ok);
    const [got, wanted] = [ended as Ended, expected as Ended];
    expect(got.count).toBe(wanted.count);
    // A block that was refused may have found that it has lapsed, and then it is forgotten earlier.
    if (!isLeased) expect(got.reason).toBe(wanted.reason);
    if (ok && !isLeased) expect(got.value).toBeCloseTo(wanted.value!, 6);
  }

  /** In a transaction. */
  async function inside(step: Step, scope: Scope): Promise<void> {
    if (step.which % 2 === 0) await hold(step, scope);
    if (step.which % 4 > 0) await end(step, scope);
  }

  return { hold, end, inside };
}

interface Ended {
  count?: number;
  reason?: string;
  value?: number;
}
