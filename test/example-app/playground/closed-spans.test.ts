/** The spans in which the playground's limit was closed, as a real limiter has reported them. */
import type { RateLimitConfig } from "trpc-rate-limit/server";
import { expect, it } from "vitest";
import { setUpBucket, START } from "../../support/playground-bucket.js";

const BUCKET: RateLimitConfig = { kind: "token bucket", rate: 6, period: 60_000, capacity: 1 };
const WINDOW: RateLimitConfig = { ...BUCKET, kind: "fixed window", rate: 1, start: 0 };

/** A limit that denies the second of two calls, a second after the first: its spans at each of `later`, ms. */
async function spansOf(config: RateLimitConfig, later: readonly number[]) {
  const { history, limiter, pass, snapshot } = await setUpBucket(config);
  await limiter.limit("playground");
  history.snapshot(await snapshot());
  pass(1_000);
  await limiter.limit("playground");
  history.snapshot(await snapshot());
  return later.map((ms) =>
    history
      .closed(START + ms)
      .map(({ from, to }) => [Math.round(from - START), Math.round(to - START)]),
  );
}

it("is closed from the denial up to the promised instant, and until now before that", async () => {
  const spans = await spansOf({ ...BUCKET, blockFor: 10_000 }, [1_000, 5_000, 11_000, 14_000]);
  expect(spans).toEqual([[], [[1_000, 5_000]], [[1_000, 11_000]], [[1_000, 11_000]]]);
});

it("is closed for whole windows, up to the start of the one that opens", async () => {
  // START begins a window. That of 10 s holds nothing, because ten seconds are over within it.
  const spans = await spansOf({ ...WINDOW, period: 10_000, blockFor: 10_000 }, [15_000, 30_000]);
  expect(spans).toEqual([[[1_000, 15_000]], [[1_000, 20_000]]]);
});

it("is never closed without blockFor, whatever is denied or owed", async () => {
  expect(await spansOf(BUCKET, [5_000])).toEqual([[]]);
});
