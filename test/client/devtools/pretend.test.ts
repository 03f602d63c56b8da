/** Pretended states for limits of every kind, as an observer takes them. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { pretend, pretencesFor } from "../../../client/devtools/pretend.js";
import { createRateLimitObserver } from "../../../client/index.js";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  type LimitConfig,
  memoryStore,
  type RateLimiter,
  SECOND,
} from "../../../server/index.js";

const KINDS: Record<string, LimitConfig> = {
  "a token bucket": { kind: "token bucket", rate: 1, period: SECOND, capacity: 5 },
  "a token bucket with shards": { kind: "token bucket", rate: 8, period: HOUR, shards: 4 },
  "a fixed window": { kind: "fixed window", rate: 3, period: HOUR },
  "a month": { kind: "fixed window", rate: 3, period: "month", start: 0 },
  "a week of a time zone": {
    kind: "fixed window",
    rate: 3,
    period: "week",
    timeZone: "Asia/Tokyo",
  },
  slots: { kind: "concurrency", slots: 3 },
};
const CREDITS = { kind: "credits", capacity: 100 } as const;
const item = { name: "a" };

async function follow(config: LimitConfig, counts: readonly number[] = [1]) {
  const clock = createManualClock(Date.UTC(2030, 4, 15, 12, 0, 0, 7));
  const limiter = createRateLimiter({ store: memoryStore(), limits: { a: config }, clock });
  const untyped = limiter as unknown as RateLimiter;
  const status = async () => (await untyped.snapshots([item]))[0]!;
  const observer = createRateLimitObserver({
    clock,
    live: "off",
    transport: { status, watch: () => () => {} },
  });
  onTestFinished(() => observer.close());
  for (const count of counts) observer.observe(item, count, () => {});
  const answers = (count: number) =>
    vi.waitFor(() => expect(observer.inspect().answered).toBe(count));
  await answers(1);
  return {
    clock,
    limiter: untyped,
    observer,
    pretend(pretence: Parameters<typeof pretend>[0]) {
      const { limits, now, offset } = observer.inspect();
      observer.receive(pretend(pretence, limits[0]!.snapshot!, now + offset, counts));
    },
    async ask() {
      observer.refresh();
      await answers(observer.inspect().answered + 1);
    },
    status: (count = counts[0]!) => observer.status(item, count),
  };
}

describe.each(Object.entries(KINDS))("%s", (_kind, config) => {
  it("is denied for ten seconds to the ms, and then granted", async () => {
    const page = await follow(config);
    page.pretend("denied for 10 s");
    expect(page.status()).toEqual({ ok: false, retryAt: page.clock() + 10 * SECOND });
    page.clock.advance(10 * SECOND - 1);
    expect(page.status()!.ok).toBe(false);
    page.clock.advance(1);
    expect(page.status()).toEqual({ ok: true, retryAt: undefined });
  });

  it("is drained, refilled, and true again when the server was asked", async () => {
    const page = await follow(config);
    const full = page.observer.remaining(item);
    page.pretend("drained");
    expect(page.status()!.ok).toBe(false);
    expect(page.observer.check(item, page.clock(), 0)!.value).toBe(0);
    page.pretend("refilled");
    expect(page.status()!.ok).toBe(true);
    expect(page.observer.remaining(item)).toBe(full);
    page.pretend("drained");
    await page.ask();
    expect(page.observer.remaining(item)).toBe(full);
    expect(page.status()!.ok).toBe(true);
  });
});

it("denies the call for the fewest tokens for ten seconds, and the others for no less", async () => {
  const page = await follow(KINDS["a token bucket"]!, [3, 5, 9]);
  page.pretend("denied for 10 s");
  expect(page.status(3)!.retryAt).toBe(page.clock() + 10 * SECOND);
  expect(page.status(5)!.retryAt).toBe(page.clock() + 12 * SECOND);
});

describe("credits", () => {
  it("come by no wait, so that a pretended denial has no end of its own", async () => {
    const page = await follow(CREDITS);
    page.pretend("refilled");
    expect(page.observer.remaining(item)).toBe(100);
    page.pretend("denied for 10 s");
    expect(page.status()).toEqual({ ok: false, retryAt: Infinity });
  });

  it("without a bound are some more than before", async () => {
    const page = await follow({ kind: "credits" });
    await page.limiter.credit("a", { count: 5 });
    await page.ask();
    page.pretend("refilled");
    expect(page.observer.remaining(item)).toBe(105);
  });
});

it("does not offer to deny what denies no call", () => {
  const config = { kind: "token bucket", rate: 1, period: SECOND } as const;
  expect(pretencesFor(config)).toEqual(["drained", "refilled", "denied for 10 s"]);
  expect(pretencesFor({ ...config, shadow: true })).toEqual(["drained", "refilled"]);
  expect(pretencesFor({ ...config, capacity: 0 })).toEqual(["drained", "refilled"]);
});

it("ends what a closing has said", async () => {
  const config = { kind: "token bucket", rate: 1, period: 60_000, blockFor: 600_000 } as const;
  const page = await follow(config);
  await page.limiter.limit("a");
  await page.limiter.limit("a");
  await page.ask();
  expect(page.status()).toEqual({ ok: false, retryAt: page.clock() + 660_000 });
  page.pretend("refilled");
  expect(page.status()!.ok).toBe(true);
  await page.ask();
  page.pretend("denied for 10 s");
  expect(page.status()).toEqual({ ok: false, retryAt: page.clock() + 10 * SECOND });
});
