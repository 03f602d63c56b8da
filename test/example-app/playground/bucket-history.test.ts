/** The knowledge of the playground's page about a bucket, reported by a real limiter. */
import type { RateLimitConfig } from "trpc-rate-limit/server";
import { describe, expect, it } from "vitest";
import { setUpBucket as setUp, START } from "../../support/playground-bucket.js";

const BUCKET: RateLimitConfig = { kind: "token bucket", rate: 2, period: 1000, capacity: 5 };
const WINDOW: RateLimitConfig = { ...BUCKET, kind: "fixed window", start: 0 };

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
      const { grants, most } = history.measured();
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

  it("shows the step at which a month begins", async () => {
    const start = Date.UTC(2023, 11, 1) - START;
    const month = await setUp({ kind: "fixed window", rate: 100, period: "month", start: 0 });
    month.pass(start - 2_000);
    (await month.call(30))();
    month.pass(5_000);
    const { at, values } = month.history.line(month.now());
    expect(values.slice(-4)).toEqual([70, 70, 100, 100]);
    expect(at.at(-2)! - START).toBe(start);
  });

  it("marks a denial once, and keeps it off the predicted line", async () => {
    const { history, call, snapshot } = await setUp(BUCKET);
    (await call(5))();
    const denial = await call();
    // As the hooks do: they take the denial for a snapshot.
    history.snapshot({ ...(await snapshot()), value: -0.5 });
    denial();
    const kinds = history.marks(START).map(({ kind }) => kind);
    expect(kinds).toEqual(["granted"]);
    expect(history.denials(START)).toEqual([START]);
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
    // Of the three grants, the first is gone: the second begins the last minute.
    expect(history.marks(START).map(({ at }) => at - START)).toEqual([70_000, 140_000]);
    history.snapshot({ ...(await snapshot()), config: WINDOW });
    expect(history.counts).toMatchObject({ granted: 0, denied: 0 });
    expect(history.config).toEqual(WINDOW);
  });

  it("predicts the sum of shards, of which an answer knows only its own", async () => {
    const { history, call, snapshot } = await setUp({ ...BUCKET, shards: 5 });
    (await call())();
    (await call())();
    expect(history.valueAt(START)).toBeCloseTo(3);
    expect(history.measured().grants).toBe(0);
    history.snapshot(await snapshot());
    expect(history.valueAt(START)).toBeCloseTo(3);
  });

  it("shows the last 15 s at first, grows with the first call up to a minute, and begins anew", async () => {
    const { history, call, pass, now } = await setUp(BUCKET);
    pass(40_000);
    expect(history.spanAt(now())).toBe(15_000);
    (await call())();
    const spans = [10_000, 10_000, 30_000, 20_000].map((ms) => {
      pass(ms);
      return history.spanAt(now());
    });
    expect(spans).toEqual([15_000, 21_000, 51_000, 60_000]);
    // That call has left the plot.
    history.line(now());
    expect(history.spanAt(now())).toBe(15_000);
  });

  it("measures what the page predicted and what the server said, and keeps the greatest difference", async () => {
    const { history, call, pass, now, limiter } = await setUp(BUCKET);
    pass(1_000);
    (await call(2))();
    expect(history.measured()).toEqual({ grants: 1, last: { predicted: 3, said: 3 }, most: 0 });
    // Another visitor of the same bucket, of whom the page has not heard.
    await limiter.limit("playground", { count: 1.5 });
    (await call())();
    expect(history.measured()).toEqual({
      grants: 2,
      last: { predicted: 2, said: 0.5 },
      most: 1.5,
    });
    pass(70_000);
    (await call())();
    expect(history.measured()).toEqual({ grants: 3, last: { predicted: 4, said: 4 }, most: 1.5 });
    history.line(now());
    history.clear();
    expect(history.measured()).toEqual({ grants: 0, most: 0 });
  });

  it("measures a grant only when all calls that may have come before it are answered", async () => {
    const { history, call, pass } = await setUp(BUCKET);
    pass(1_000);
    const first = await call(2);
    pass(1);
    const second = await call(1);
    second();
    expect(history.measured()).toEqual({ grants: 0, most: 0 });
    first();
    expect(history.measured()).toMatchObject({ grants: 2, last: { said: 2.002 }, most: 0 });
  });

  it("shows a bucket that a denial has closed, whether a snapshot comes before the answer or after", async () => {
    for (const isFirst of [true, false]) {
      const { history, call, pass, now, snapshot } = await setUp({ ...BUCKET, blockFor: 3000 });
      pass(1_000);
      (await call(5))();
      const denial = await call();
      const closed = await snapshot();
      pass(isFirst ? 0 : 4);
      if (isFirst) history.snapshot(closed);
      // As the hooks do: they make a snapshot of the denial, with a wait and without an end.
      const { closedUntil, ...open } = closed;
      history.snapshot({ ...open, value: -6, ts: closed.now });
      denial();
      if (!isFirst) history.snapshot(closed);
      expect(history.closedUntil(now())).toBe(closedUntil);
      expect(history.closed(now() + 9_000)).toEqual([{ from: closed.now, to: closedUntil }]);
      expect(history.valueAt(closedUntil!)).toBe(0);
      expect(history.valueAt(closedUntil! + 500)).toBe(1);
      pass(5_000);
      (await call())();
      expect(history.measured()).toMatchObject({ grants: 2, most: 0 });
    }
  });
});
