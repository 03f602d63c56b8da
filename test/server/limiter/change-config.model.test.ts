/** Random programs of takes, charges and changes of plan, and a model that knows only what was used. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../../server/index.js";
import { createRandom } from "../../support/seeded-random.js";

const PROGRAMS = 100;
const STEPS = 60;

interface Plan {
  kind: "token bucket" | "fixed window";
  rate: number;
  period: number;
  start?: number;
  maxReserved?: number;
}

/** All sums of these are exact. */
const bucket = (rate: number, owed?: number): Plan => ({
  kind: "token bucket",
  rate,
  period: 1024,
  ...(owed !== undefined && { maxReserved: owed }),
});
const window = (rate: number, period = 1024, owed?: number): Plan => ({
  ...bucket(rate, owed),
  kind: "fixed window",
  period,
  start: 0,
});
const PLANS: Record<string, [Plan, ...Plan[]]> = {
  buckets: [bucket(8), bucket(32), bucket(4, 0), bucket(16, 3)],
  windows: [window(8), window(32), window(4, 1024, 0), window(16, 1024, 3)],
  "windows of several lengths": [window(8), window(32, 4096), window(4, 512, 0), window(16, 8192)],
  "buckets and windows": [bucket(8), window(32), window(4, 4096), bucket(16, 0)],
};

/** What was used of a plan, and not yet replaced. */
class Model {
  used = 0;

  constructor(
    public plan: Plan,
    private at: number,
  ) {}

  pass(now: number): void {
    const { kind, rate, period } = this.plan;
    const periods = (ms: number) =>
      kind === "token bucket" ? ms / period : Math.floor(ms / period);
    this.used = Math.max(0, this.used - rate * (periods(now) - periods(this.at)));
    this.at = now;
  }

  take(count: number): boolean {
    const fits = this.used + count <= this.plan.rate;
    if (fits) this.used += count;
    return fits;
  }

  change(plan: Plan): void {
    const owed = Math.max(0, this.used - this.plan.rate);
    this.used = Math.min(this.used, plan.rate + Math.max(owed, plan.maxReserved ?? Infinity));
    this.plan = plan;
  }
}

describe.each(Object.entries(PLANS))("random programs of %s", (_, plans) => {
  it.each([1, 4])("find what the model says was used, with %d shards", async (shards) => {
    // A call on two of the shards may be denied although all of them have the tokens.
    const isExact = shards === 1;
    const at = (plan: Plan) => (isExact ? plan : { ...plan, shards });
    const random = createRandom(shards);
    const pick = (count: number) => Math.floor(random() * count);
    let upgrades = 0;
    for (let program = 0; program < PROGRAMS; program++) {
      const clock = createManualClock(2 ** 40);
      const limiter = createRateLimiter({ store: memoryStore(), clock, random, limits: {} });
      let [plan] = plans;
      const model = new Model(plan, clock());
      for (let step = 0; step < STEPS; step++) {
        clock.advance(64 * pick(12));
        model.pass(clock());
        const count = 1 + pick(2);
        const turn = pick(7);
        if (turn < 4) {
          const { ok } = await limiter.limit("calls", { count, config: at(plan) });
          if (isExact) expect(ok).toBe(model.take(count));
          else if (ok) model.used += count;
        } else if (turn === 4) {
          await limiter.charge("calls", { count, config: at(plan) });
          model.used += count;
        } else if (turn === 5) {
          const to = plans[pick(plans.length)]!;
          if (to.rate > plan.rate && model.used > 0) upgrades++;
          await limiter.changeConfig("calls", { from: at(plan), to: at(to) });
          model.change((plan = to));
        }
        const { value } = await limiter.getValue("calls", { config: at(plan) });
        if (isExact) expect(value).toBe(plan.rate - model.used);
        // A shard that is full loses what the others still need.
        else expect(value).toBeLessThanOrEqual(plan.rate - model.used + 1e-9);
      }
    }
    expect(upgrades).toBeGreaterThan(PROGRAMS / 2);
  });
});
