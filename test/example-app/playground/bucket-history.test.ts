/** What the playground's page knows of a bucket, told by a real limiter. */
import { createRateLimiter, memoryStore, type RateLimitConfig } from "trpc-rate-limit/server";
import { describe, expect, it } from "vitest";
import { createBucketHistory } from "../../../example-app/playground/bucket-history.js";

const START = 1_700_000_000_000;
const BUCKET: RateLimitConfig = { kind: "token bucket", rate: 2, period: 1000, capacity: 5 };
const WINDOW: RateLimitConfig = { ...BUCKET, kind: "fixed window", start: 0 };

/** A limiter, its clock, and a page that has its first snapshot. */
async function setUp(config: RateLimitConfig) {
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
      const { value, ts, config: current } = await limiter.getValue("playground");
      return { name: "playground", value, ts, config: current, now };
    },
    /** Calls, and returns how the answer arrives at the page. */
    async call(count = 1, reserve = false) {
      const result = await limiter.limit("playground", { count, reserve });
      const answeredAt = now;
      history.sent();
      const { value } = result;
      return result.ok
        ? () => history.granted({ value, ts: result.ts!, now: answeredAt }, count)
        : () =>
            history.denied({
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

/** The values of a line at an instant: several where it rises or falls steeply. */
function valuesAt({ at, values }: { at: number[]; values: number[] }, instant: number): number[] {
  return at.slice(1).flatMap((to, i) => {
    const from = at[i]!;
    if (instant < from || instant > to) return [];
    const [first, last] = [values[i]!, values[i + 1]!];
    return to === from
      ? [first, last]
      : [first + ((instant - from) / (to - from)) * (last - first)];
  });
}

describe("the history of a bucket", () => {
  it.each([BUCKET, WINDOW])(
    "predicts every grant of a $kind, in whatever order the answers come",
    async (config) => {
      const { history, call, pass, now, snapshot, limiter } = await setUp(config);
      const answers: (() => void)[] = [];
      const held: [at: number, value: number][] = [];
      for (let i = 0; i < 40; i++) {
        pass((i * 37) % 450);
        answers.push(await call(1 + (i % 2), i % 7 === 0));
        held.push([now(), (await limiter.getValue("playground")).value]);
        if (i % 10 === 0) history.snapshot(await snapshot());
      }
      for (const answer of answers.reverse()) answer();
      const { granted, denied, waiting } = history.counts;
      expect(granted).toBeGreaterThan(10);
      expect(denied).toBeGreaterThan(5);
      expect(waiting).toBe(0);
      const { grants, most } = history.deviation();
      expect(grants).toBe(granted);
      expect(most).toBeLessThan(1e-9);
      // The line passes through what the limiter held after each call.
      const line = history.line(now());
      for (const [instant, value] of held) {
        const off = valuesAt(line, instant).map((shown) => Math.abs(shown - value));
        expect(Math.min(...off)).toBeLessThan(1e-6);
      }
    },
  );

  it("shows the steps of windows, and the corner where a bucket is full", async () => {
    const windows = await setUp(WINDOW);
    (await windows.call(5))();
    windows.pass(2500);
    const steps = windows.history.line(windows.now()).values.map((value) => Math.round(value));
    expect(steps).toEqual([5, 5, 0, 0, 2, 2, 4, 4]);

    const bucket = await setUp(BUCKET);
    (await bucket.call(2))();
    bucket.pass(4000);
    const line = bucket.history.line(bucket.now());
    expect(line.values).toEqual([5, 5, 3, 5, 5]);
    expect(line.at.map((at) => at - START)).toEqual([0, 0, 0, 1000, 4000]);
  });

  it("marks a denial once, and keeps it off the predicted line", async () => {
    const { history, call, snapshot } = await setUp(BUCKET);
    (await call(5))();
    const denial = await call();
    // As the hooks do: they take the denial for a snapshot.
    history.snapshot({ ...(await snapshot()), value: -0.5 });
    denial();
    const kinds = history.marks(START).map(({ kind }) => kind);
    expect(kinds).toEqual(["granted", "denied"]);
    expect(history.valueAt(START)).toBe(0);
  });

  it("forgets what is older than a minute, and starts anew with another config", async () => {
    const { history, call, pass, now, snapshot } = await setUp(BUCKET);
    (await call(5))();
    (await call())();
    pass(70_000);
    history.line(now());
    expect(history.marks(now())).toEqual([]);
    expect(history.valueAt(now())).toBe(5);
    // Without a line, too: a hidden tab draws none.
    (await call())();
    pass(70_000);
    (await call())();
    expect(history.deviation().grants).toBe(1);
    history.snapshot({ ...(await snapshot()), config: WINDOW });
    expect(history.counts).toMatchObject({ granted: 0, denied: 0 });
    expect(history.config).toEqual(WINDOW);
  });

  it("predicts the sum of shards, of which an answer knows only its own", async () => {
    const { history, call, snapshot } = await setUp({ ...BUCKET, shards: 5 });
    (await call())();
    (await call())();
    expect(history.valueAt(START)).toBeCloseTo(3);
    expect(history.deviation().grants).toBe(0);
    history.snapshot(await snapshot());
    expect(history.valueAt(START)).toBeCloseTo(3);
  });
});
