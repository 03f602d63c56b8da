import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { HOUR, type RateLimitSnapshot } from "../../../server/index.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";
import { type Pair, pairsOf } from "../../support/world.js";

const LIMITS = { shared: { kind: "token bucket", rate: 8, period: HOUR, shards: 4 } } as const;
const [AB, AC, , , BD, CD] = pairsOf(4) as [Pair, Pair, Pair, Pair, Pair, Pair];

function start() {
  let dice: number[] = [];
  const clock = createManualClock();
  const { limiter, t, rl } = createLimitedTRPC(LIMITS, { clock, random: () => dice.shift()! });
  const { watch, status } = t.createCallerFactory(rl.router)({});
  return {
    clock,
    watch,
    status,
    take: (pair: Pair, count: number) => {
      dice = [...pair];
      return limiter.limit("shared", { count });
    },
    giveBack: (pair: Pair, count: number) => {
      dice = [...pair];
      return limiter.refund("shared", { count });
    },
  };
}

function valuesOf(snapshot: RateLimitSnapshot | void) {
  return snapshot?.fullest?.map(({ value }) => value);
}

it("a snapshot of a limit with shards contains the two fullest shards", async () => {
  const { clock, status, take } = start();
  const { ts } = await status({ name: "shared" });
  expect(await status({ name: "shared" })).toMatchObject({
    value: 8,
    fullest: [
      { value: 2, ts },
      { value: 2, ts },
    ],
  });
  await take(AB, 2);
  await take(CD, 2);
  clock.advance(HOUR / 4);
  await take(BD, 1.5);
  // The rows as they were written. The reader calculates the refill since then.
  expect(await status({ name: "shared" })).toMatchObject({
    value: 3.5,
    fullest: [
      { value: 2, ts: clock() },
      { value: 0, ts },
    ],
  });
});

it("watch yields a snapshot if tokens moved between shards and the sum is the same", async () => {
  const { watch, take, giveBack } = start();
  await take(AB, 2);
  await take(CD, 2);
  const stream = (await watch({ items: [{ name: "shared" }] }))[Symbol.asyncIterator]();
  const next = async () => (await stream.next()).value;
  expect(valuesOf(await next())).toEqual([2, 2]);
  await take(BD, 2);
  for (let times = 0; times < 2; times++) await giveBack(AC, 1);
  const later = await next();
  expect(later).toMatchObject({ value: 4 });
  expect(valuesOf(later)).toEqual([2, 1]);
  await stream.return?.();
});
