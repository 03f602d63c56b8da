/** A bucket of the playground, as a real limiter has it and as the page remembers it. */
import { createRateLimiter, memoryStore, type RateLimitConfig } from "trpc-rate-limit/server";
import { createBucketHistory } from "../../example-app/playground/bucket-history.js";

export const START = 1_700_000_000_000;

/** A limiter, its clock, and a page that has its first snapshot. */
export async function setUpBucket(config: RateLimitConfig) {
  let now = START;
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { playground: config },
    clock: () => now,
  });
  const history = createBucketHistory();
  const world = {
    limiter,
    history,
    pass: (ms: number) => void (now += ms),
    now: () => now,
    async snapshot() {
      const [snapshot] = await limiter.snapshots([{ name: "playground" }]);
      return snapshot!;
    },
    /** Calls, and returns a function that delivers the answer to the page. */
    async call(count = 1, reserve = false) {
      const result = await limiter.limit("playground", { count, reserve });
      const answeredAt = now;
      const number = history.sent();
      const { value } = result;
      return result.ok
        ? () => history.granted(number, { value, ts: result.ts!, now: answeredAt }, count)
        : () =>
            history.denied(number, {
              kind: "RateLimited",
              name: "playground",
              retryAfter: result.retryAfter,
              value,
              config,
              now: answeredAt,
            });
    },
  };
  history.snapshot(await world.snapshot());
  return world;
}
