/** Usage that is counted in the decision itself: exactly once, or not at all. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { bucketConfig } from "../../../../core/rows/credits.js";
import type { RateLimitResult } from "../../../../core/decide.js";
import type { Usage } from "../../../../core/usage.js";
import { createRateLimiter, DAY, HOUR, type RateLimitStore } from "../../../../server/index.js";
import { TokenClaim } from "../../../../server/limiter/claims/token-claim.js";
import { report, type Telling } from "../../../../server/limiter/context/context.js";
import { type Claim, ClaimDecision } from "../../../../server/limiter/claims/draft.js";
import {
  resolveLimit,
  type ResolvedLimit,
} from "../../../../server/limiter/limits/resolved-limit.js";
import { usageRows, usageWrites } from "../../../../server/limiter/claims/counters.js";
import { openUsage } from "../../../../server/limiter/usage/open-usage.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const START = Date.UTC(2030, 0, 1);
const config = { kind: "fixed window", rate: 100, period: DAY, start: 0, usage: true } as const;
const limits = { jobs: config } as const;
const none = { granted: 0, denied: 0, taken: 0, givenBack: 0 };
const hours = { from: START, to: START + 2 * HOUR };

/** A take of tokens that counts its usage in the same decision. */
function countingTake(limit: ResolvedLimit, count: number, now: number): Claim<RateLimitResult> {
  const request = { limit, count, reserve: false, maxWait: undefined };
  const tokens = new TokenClaim(request, limit.rows);
  const usage = { granted: 1, taken: count };
  return {
    rows: [...tokens.rows, ...usageRows(limit, now, usage)],
    attempt(draft, decidedAt) {
      const result = tokens.attempt(draft, decidedAt);
      if (result.ok) usageWrites(draft, limit, now, usage);
      return result;
    },
  };
}

const resolved = (key: string | undefined, from: object = config) =>
  resolveLimit("jobs", key, key, bucketConfig(from as typeof config));

async function take(store: RateLimitStore, limit: ResolvedLimit, count: number, now: number) {
  const decision = new ClaimDecision(countingTake(limit, count, now), () => now);
  return (await store.apply([decision]))[0]!;
}

describe.each(storesAndRedis)("usage in a decision on %s", (_name, open) => {
  it("is counted as often as the decision takes effect, in two processes at once", async () => {
    await using opened = await open({ isNew: true });
    const clock = createManualClock(START);
    const limiter = createRateLimiter({ store: opened.store, limits, clock });
    const calls = Array.from({ length: 40 }, (_, i) => {
      const store = i % 2 === 0 ? opened.store : opened.peer;
      return take(store, resolved("ann"), i % 4 === 0 ? 1 : 5, clock());
    });
    const results = await Promise.all(calls);
    const taken = results.reduce((sum, { ok }, i) => sum + (ok ? (i % 4 === 0 ? 1 : 5) : 0), 0);
    const granted = results.filter(({ ok }) => ok).length;
    expect(granted).toBeLessThan(40);
    const { total } = await limiter.usage("jobs", { key: "ann", ...hours });
    expect(total).toEqual({ ...none, granted, taken });
    const { value } = await limiter.getValue("jobs", { key: "ann" });
    expect(taken).toBe(100 - value);
    // The sum of all keys is that of the processes alone.
    expect((await limiter.usage("jobs", hours)).total).toEqual(none);
  });

  it("adds to what processes have summed up", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits, { now: START, isNew: true });
    await limiter.limit("jobs", { key: "ann", count: 7 });
    await limiter.flushUsage();
    await take(store, resolved("ann"), 8, clock());
    await limiter.limit("jobs", { key: "ann", count: 9 });
    const { total } = await limiter.usage("jobs", { key: "ann", ...hours });
    expect(total).toEqual({ ...none, granted: 3, taken: 24 });
  });
});

describe("usage in a decision", () => {
  const rowsOf = (usage?: Partial<Usage>) =>
    usageRows(resolved("a|b"), START + 5, usage).map(({ key, shard }) => [key, shard]);

  it("names the rows that it may write, and all of them where it does not say", () => {
    const key = `a\\|b|${START}`;
    expect(rowsOf()).toEqual([0, 1, 2, 3, 4].map((shard) => [key, shard]));
    expect(rowsOf({ granted: 1, taken: 1 })).toEqual([[key, 1]]);
    expect(rowsOf({ granted: 1, taken: 2 })).toEqual([0, 4].map((shard) => [key, shard]));
    expect(rowsOf({ taken: 9, givenBack: 9 })).toEqual([0, 3].map((shard) => [key, shard]));
    expect(rowsOf({ denied: 1 })).toEqual([[key, 2]]);
    expect(usageRows(resolved("a", { ...config, usage: false }), START)).toEqual([]);
  });

  it("is reported to be counted, and then only added to the sum of all keys", async () => {
    const clock = createManualClock(START);
    const asked: [key: string, count: number][] = [];
    const usage = openUsage({
      clock,
      every: 60_000,
      waitUntil() {},
      logger: { error() {}, warn() {} },
      ask({ toDecision, done }) {
        const decision = toDecision();
        const { writes } = decision.decide([null]);
        asked.push([decision.rows[0]!.key, writes![0]!.used]);
        done(undefined);
      },
    });
    const telling = { usage: usage.counter, onChange() {}, decisions: { heard: undefined } };
    const tell = (limit: ResolvedLimit) =>
      report(
        telling as unknown as Telling,
        "limit",
        { limit, count: 3 },
        { ok: true, value: 0, ts: START },
        false,
        "in its row",
      );
    // In its own row already, which is the sum of all keys, too.
    tell(resolved(undefined));
    await usage.flush();
    expect(asked).toEqual([]);
    tell(resolved("ann"));
    tell(resolved("bob"));
    await usage.flush();
    expect(asked).toEqual([
      [`|${START}`, 6],
      [`|${START}`, 2],
    ]);
  });
});
