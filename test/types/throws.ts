/** Calls that throw where they are denied, whose results are grants alone. `tsc` checks it; it never runs. */
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitResult,
} from "trpc-rate-limit/server";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    bucket: { kind: "token bucket", rate: 1, period: MINUTE },
    slots: { kind: "concurrency", slots: 1 },
  },
});
declare const maybe: boolean;
const throws = true;

export async function granted() {
  const result = await limiter.limit("bucket", { key: "ann", throws: true });
  result.ok satisfies true;
  result.ts satisfies number;
  (await limiter.check("bucket", { throws })).ts satisfies number;
  (await limiter.acquire("bucket")).ts satisfies number;
  const all = await limiter.limitAll([{ name: "bucket" }], { throws: true });
  all.ok satisfies true;
  const first = await limiter.limitFirst(["bucket"], { throws: true, key: "ann" });
  first.paid[0]?.name satisfies "bucket" | undefined;
  await limiter.limitFirst(["bucket"], { throws: true, split: true }).then(({ paid }) => paid);
  await using slot = await limiter.enter("slots", { key: "ann", throws: true });
  slot.signal satisfies AbortSignal;
  await limiter.transaction(async ({ limit }) => {
    (await limit("bucket", { throws: true })).ts satisfies number;
  });
  const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;
  (await limiter.limit("elsewhere", { config, throws: true })).ts satisfies number;
}

export async function denied() {
  (await limiter.limit("bucket", { throws: maybe })) satisfies RateLimitResult;
  const result: RateLimitResult = await limiter.limit("bucket", { throws: false });
  // @ts-expect-error it may be denied
  void result.ts;
  // @ts-expect-error it may be denied
  void (await limiter.limit("bucket", { throws: maybe })).ts;
  // @ts-expect-error it may be denied
  void (await limiter.limit("bucket")).ts;
  // @ts-expect-error it may be denied
  void (await limiter.limitAll([{ name: "bucket" }])).results satisfies string;
  // @ts-expect-error it may be denied
  void (await limiter.limitFirst(["bucket"])).paid;
  // @ts-expect-error it may be denied
  void (await limiter.enter("slots")).signal;
  // @ts-expect-error yes is no boolean
  void limiter.limit("bucket", { throws: "yes" });
}
