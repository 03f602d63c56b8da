/** A key that is given as `undefined` is a missing user id, and not the bucket that all share. */
import { expect, it } from "vitest";
import {
  createRateLimiter,
  type KeyOptions,
  memoryStore,
  MINUTE,
  type RateLimiter,
} from "../../../../server/index.js";

const one = { kind: "token bucket", rate: 5, period: MINUTE } as const;
const MISSING = "key must not be undefined: leave it out for the bucket that all callers share";
type Call = (limiter: RateLimiter, options: KeyOptions) => Promise<unknown>;

const calls: [title: string, call: Call][] = [
  ["limit", (limiter, options) => limiter.limit("one", options)],
  ["limit with a config", (limiter, options) => limiter.limit("own", { ...options, config: one })],
  ["check", (limiter, options) => limiter.check("one", options)],
  [
    "limitAll",
    (limiter, options) => limiter.limitAll([{ name: "one" }, { name: "one", ...options }]),
  ],
  ["charge", (limiter, options) => limiter.charge("one", options)],
  ["refund", (limiter, options) => limiter.refund("one", options)],
  ["reset", (limiter, options) => limiter.reset("one", options)],
  ["getValue", (limiter, options) => limiter.getValue("one", options)],
  ["acquire", (limiter, options) => limiter.acquire("one", options)],
  ["snapshots", (limiter, options) => limiter.snapshots([{ name: "one", ...options }])],
  ["configOf", async (limiter, { key }) => limiter.configOf("one", { key: key! })],
  [
    "limit in a transaction",
    (limiter, options) => limiter.transaction(({ limit }) => limit("one", options)),
  ],
];

it.each(calls)("%s rejects a key that is not a string, and consumes nothing", async (_, call) => {
  const limiter = createRateLimiter({ store: memoryStore(), limits: { one } }) as RateLimiter;
  await limiter.limit("one", { count: 2 });
  for (const [key, message] of [
    [undefined, MISSING],
    [null, "key must be a string, got null"],
    [42, "key must be a string, got a number"],
    ["", "key must not be empty"],
  ] as const) {
    await expect(call(limiter, { key } as unknown as KeyOptions)).rejects.toMatchObject({
      name: "RateLimitInputError",
      reason: "key",
      message: expect.stringContaining(message) as string,
    });
  }
  expect((await limiter.getValue("one")).value).toBeCloseTo(3, 2);
});
