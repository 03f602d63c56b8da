/**
 * Two processes lease one limit, and give tokens back. In any span, no more is really used than the limit
 * allows. A naive refund to the row would break this: a block of the other process may have cost the row
 * the tokens that come back.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, memoryStore, type RateLimitResult } from "../../../../server/index.js";
import { cases } from "../../../support/cases.js";

const RATE = 20;
const PERIOD = 100;

type Step =
  | { do: "limit" | "limitAll"; process: number; count: number }
  | { do: "settle"; which: number; part: number }
  | { do: "wait"; ms: number };

const counted = (kind: "limit" | "limitAll", max: number) =>
  fc.record({
    do: fc.constant(kind),
    process: fc.nat(1),
    count: fc.integer({ min: 1, max }),
  });

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: counted("limit", 20) },
    { weight: 2, arbitrary: counted("limitAll", 60) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("settle" as const),
        which: fc.nat(5),
        part: fc.nat(3),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("wait" as const),
        ms: fc.integer({ min: 1, max: 90 }),
      }),
    },
  ),
  { minLength: 10, maxLength: 60 },
);

const setting = fc.record({
  capacity: fc.integer({ min: 60, max: 200 }),
  ms: fc.integer({ min: 20, max: 200 }),
  steps,
});

interface Grant {
  at: number;
  count: number;
  result: RateLimitResult;
}

async function run(given: { capacity: number; ms: number; steps: readonly Step[] }) {
  const clock = createManualClock();
  const store = memoryStore();
  const config = {
    kind: "token bucket",
    rate: RATE,
    period: PERIOD,
    capacity: given.capacity,
    lease: { ms: given.ms },
  } as const;
  const limiters = [0, 1].map(() => createRateLimiter({ store, clock, limits: { hot: config } }));
  const grants: Grant[] = [];

  async function call(process: number, count: number): Promise<boolean> {
    const result = await limiters[process]!.limit("hot", { count });
    if (result.ok) grants.push({ at: clock(), count, result });
    return result.ok;
  }

  for (const step of given.steps) {
    if (step.do === "wait") clock.advance(step.ms);
    if (step.do === "limit") await call(step.process, step.count);
    if (step.do === "limitAll") {
      const { ok, results } = await limiters[step.process]!.limitAll([
        { name: "hot", count: Math.min(step.count, given.capacity) },
      ]);
      const count = Math.min(step.count, given.capacity);
      if (ok) grants.push({ at: clock(), count, result: results[0]! });
    }
    if (step.do === "settle") {
      const grant = grants.at(-1 - step.which);
      if (grant === undefined) continue;
      const actual = Math.floor((grant.count * step.part) / 4);
      // By the limiter that gave it.
      for (const limiter of limiters) {
        await limiter.settle(grant.result, actual).then(
          () => (grant.count = actual),
          () => {},
        );
      }
    }
  }
  // All that is left: in the row, and not by a block, which would cost it tokens; then in blocks.
  for (;;) {
    const { ok, results } = await limiters[0]!.limitAll([{ name: "hot" }]);
    if (!ok) break;
    grants.push({ at: clock(), count: 1, result: results[0]! });
  }
  for (const process of [0, 1]) while (await call(process, 1));
  let excess = 0;
  for (const [i, first] of grants.entries()) {
    let used = 0;
    for (const { at, count } of grants.slice(i)) {
      used += count;
      const allowed = given.capacity + ((at - first.at) * RATE) / PERIOD;
      excess = Math.max(excess, used - allowed);
    }
  }
  return excess;
}

it("never lets more be used than the limit allows, whatever comes back", async () => {
  await fc.assert(
    fc.asyncProperty(setting, async (given) => {
      expect(await run(given)).toBeLessThan(1e-6);
    }),
    { numRuns: cases(500) },
  );
});
