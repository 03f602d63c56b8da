/** The texts of the panel about limits of every kind, as a real server sends them. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { snapshotOfDenial } from "../../../client/denial.js";
import { type LimitView, viewOf } from "../../../client/devtools/view.js";
import {
  createRateLimitObserver,
  type RateLimitSnapshot,
  type SnapshotCache,
} from "../../../client/index.js";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  type LimitConfig,
  memoryStore,
  MINUTE,
  type RateLimiter,
  SECOND,
} from "../../../server/index.js";

const START = Date.UTC(2030, 4, 15, 12);

interface FollowOptions {
  counts?: readonly number[];
  cache?: SnapshotCache;
  /** What happens before the page asks. */
  before?(limiter: RateLimiter, clock: ReturnType<typeof createManualClock>): unknown;
}

/** A page that has asked the server once for a limit of this config. Both have one clock. */
async function follow(config: LimitConfig, { counts = [1], cache, before }: FollowOptions = {}) {
  const clock = createManualClock(START);
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { a: config },
    overrides: true,
    clock,
  }) as unknown as RateLimiter;
  await before?.(limiter, clock);
  const status = async () => (await limiter.snapshots([{ name: "a" }]))[0]!;
  const observer = createRateLimitObserver({
    clock,
    cache,
    live: "off",
    transport: { status, watch: () => () => {} },
  });
  onTestFinished(() => observer.close());
  for (const count of counts) observer.observe({ name: "a" }, count, () => {});
  const answers = (count: number) =>
    vi.waitFor(() => expect(observer.inspect().answered).toBe(count));
  await answers(1);
  const limit = (): LimitView => viewOf(observer).limits[0]!;
  return {
    clock,
    limiter,
    observer,
    limit,
    fact: (term: string) => limit().details!.facts.find(([name]) => name === term)?.[1],
    statuses: () => limit().details!.statuses.map(({ text }) => text),
    line: () => [limit().left, limit().summary.text].join(", "),
    async ask() {
      const { answered } = observer.inspect();
      observer.refresh();
      await answers(answered + 1);
    },
  };
}

const SLOTS = { kind: "concurrency", slots: 2, ttl: 10 * SECOND } as const;

describe("slots", () => {
  it("are said to be slots, and how many are taken", async () => {
    const page = await follow(SLOTS);
    expect(page.fact("Limit")).toBe("slots: 2 at once, free after 10 s without a renewal");
    expect(page.fact("Server's row")).toBe("no slot is taken");
    expect(page.fact("Left")).toBe("2 of 2 free");
    await page.limiter.enter("a");
    page.clock.advance(3 * SECOND);
    await page.ask();
    expect(page.fact("Server's row")).toBe("1 of 2 taken, last renewed 3 s ago");
    expect(page.line()).toBe("1, ok");
    expect(page.fact("Left")).toBe("1 of 2 free");
    expect(page.fact("Window")).toBeUndefined();
    expect(page.limit().fill).toBe(0.5);
  });

  it("are free when their holders do not renew them, which the page cannot know", async () => {
    const page = await follow(SLOTS, {
      counts: [1, 3],
      before: async (limiter) => [await limiter.enter("a"), await limiter.enter("a")],
    });
    expect(page.statuses()).toEqual([
      "A call of 1 slot would be denied (10 s, if a slot is not renewed)",
      "A call of 3 slots would be denied always, because there are 2 at most",
    ]);
  });
});

describe("a fixed window", () => {
  const signUps = { kind: "fixed window", rate: 100, period: 5 * MINUTE, start: 0 } as const;

  it("began some time ago, whenever its row was written", async () => {
    const page = await follow(signUps, {
      before: async (limiter, clock) => {
        clock.advance(64_500);
        await limiter.limit("a");
        clock.advance(1500);
      },
    });
    expect(page.fact("Server's row")).toBe("99 tokens, in the window that began 1 min 6 s ago");
    expect(page.fact("Window")).toBe("began 1 min 6 s ago, the next one begins in 3 min 54 s");
    page.clock.advance(4 * MINUTE);
    // The row is of the window before.
    expect(page.fact("Server's row")).toBe("99 tokens, in the window that began 5 min 6 s ago");
    expect(page.fact("Window")).toBe("began 6 s ago, the next one begins in 4 min 54 s");
  });

  it("of a calendar has the next window that the server has listed, and says when there is none", async () => {
    const page = await follow({
      kind: "fixed window",
      rate: 3,
      period: "day",
      timeZone: "Asia/Tokyo",
    });
    expect(page.fact("Window")).toBe("began 21 h ago, the next one begins in 3 h");
    page.clock.advance(30 * DAY);
    expect(page.fact("Window")).toBe("a later one than the server has listed");
  });
});

it("says of a long time how many days it is", async () => {
  const page = await follow({ kind: "fixed window", rate: 3, period: "month", start: 0 });
  page.clock.advance(589 * HOUR);
  expect(page.fact("Last told")).toBe("24 d 13 h ago");
});

describe("a row that the server does not have", () => {
  it("is not told from a full one, and was written at no time", async () => {
    const page = await follow({ kind: "token bucket", rate: 1, period: HOUR, capacity: 3 });
    page.clock.advance(5 * SECOND);
    expect(page.fact("Server's row")).toBe("full, or there is no row yet");
    await page.limiter.limit("a", { count: 2 });
    page.clock.advance(5 * SECOND);
    await page.ask();
    expect(page.fact("Server's row")).toBe("1 token, written 5 s ago");
  });

  it("is not told from a balance of 0", async () => {
    const page = await follow({ kind: "credits" }, { counts: [3] });
    expect(page.fact("Server's row")).toBe("0 credits, or there is no row yet");
  });

  it("is one of several, where a limit has shards", async () => {
    const page = await follow({ kind: "token bucket", rate: 8, period: HOUR, shards: 4 });
    expect(page.fact("Server's row")).toBe("8 tokens in 4 shards");
  });
});

describe("a denial that no wait ends", () => {
  it("says how many credits are needed", async () => {
    const page = await follow(
      { kind: "credits" },
      {
        counts: [2, 5, 3],
        before: (limiter) => limiter.credit("a", { count: 2 }),
      },
    );
    expect(page.statuses()).toEqual([
      "A call of 2 credits would be granted",
      "A call of 3 credits would be denied: 1 more credit is needed",
      "A call of 5 credits would be denied: 3 more credits are needed",
    ]);
    expect(page.line()).toBe("2, 3 credits denied");
    // There is no number of which it could be a part.
    expect(page.fact("Left")).toBe("2");
    expect(page.limit().fill).toBeUndefined();
  });

  it("says what the limit holds", async () => {
    const bucket = { kind: "token bucket", rate: 8, period: HOUR } as const;
    const page = await follow(bucket, { counts: [9] });
    expect(page.statuses()).toEqual([
      "A call of 9 tokens would be denied always, because the limit holds 8 at most",
    ]);
    const sharded = await follow({ ...bucket, shards: 4 }, { counts: [5] });
    expect(sharded.statuses()).toEqual([
      "A call of 5 tokens would be denied always, because two shards hold 4 at most",
    ]);
  });

  it("says of a ban that it is one, and until when it is", async () => {
    const page = await follow(
      { kind: "token bucket", rate: 3, period: HOUR },
      {
        before: (limiter) => limiter.overrides.set("a", { blocked: true }),
      },
    );
    expect(page.statuses()).toEqual(["Blocked without an end"]);
    expect(page.fact("Limit")).toBe("blocked by an override, which hides the limit's own config");
    page.clock.advance(HOUR);
    expect(page.fact("Server's row")).toBe("not read for 1 h, because it is blocked");
    await page.limiter.overrides.set("a", { blocked: true, until: page.clock() + 2 * HOUR });
    await page.ask();
    expect(page.statuses()).toEqual([
      expect.stringMatching(/^Blocked until \d+ May 2030, \d\d:00:00 \(2 h\)$/),
    ]);
  });
});

describe("a limit that denies no call", () => {
  it("says that a shadow would have denied it", async () => {
    const page = await follow(
      { kind: "token bucket", rate: 2, period: HOUR, shadow: true },
      {
        before: (limiter) => limiter.limit("a", { count: 2 }),
      },
    );
    expect(page.statuses()).toEqual([
      "A call of 1 token would be granted, only because this limit denies no call",
    ]);
    expect(page.limit().summary.state).toBe("ok");
  });

  it("is ok for a caller who is exempt", async () => {
    const page = await follow(
      { kind: "token bucket", rate: 2, period: HOUR },
      {
        before: (limiter) => limiter.overrides.set("a", { unlimited: true }),
      },
    );
    expect(page.statuses()).toEqual(["A call of 1 token would be granted"]);
    expect(page.fact("Limit")).toMatch(/or an override exempts this caller$/);
  });
});

describe("what is below zero", () => {
  it("is owed, and no negative number of tokens", async () => {
    const page = await follow(
      { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
      {
        before: (limiter) => limiter.charge("a", { count: 5 }),
      },
    );
    expect(page.fact("Left")).toBe("0 of 3, and owes 2");
    expect(page.line()).toBe("\u22122, denied (3 h)");
    expect(page.fact("Server's row")).toBe("owes 2 tokens, written less than 1 s ago");
    expect(page.statuses()).toEqual(["A call of 1 token would be denied (3 h)"]);
  });

  it("closes a limit after a denial, and is owed by no caller", async () => {
    const page = await follow(
      { kind: "token bucket", rate: 1, period: HOUR, blockFor: HOUR },
      {
        before: async (limiter) => [await limiter.limit("a"), await limiter.limit("a")],
      },
    );
    expect(page.fact("Left")).toBe("0 of 1, closed");
    expect(page.fact("Server's row")).toBe("closed");
    expect(page.statuses()).toEqual(["A call of 1 token would be denied (2 h)"]);
    page.clock.advance(HOUR - 1);
    expect(page.fact("Left")).toBe("0 of 1, closed");
    page.clock.advance(1);
    expect(page.fact("Left")).toBe("0 of 1");
    expect(page.fact("Server's row")).toBe("0 tokens, opened less than 1 s ago");
    page.clock.advance(MINUTE);
    expect(page.fact("Server's row")).toBe("0 tokens, opened 1 min ago");
  });

  it("closes a fixed window up to the window that opens", async () => {
    const page = await follow(
      { kind: "fixed window", rate: 1, period: HOUR, start: START, blockFor: 90 * MINUTE },
      {
        before: async (limiter) => [await limiter.limit("a"), await limiter.limit("a")],
      },
    );
    expect(page.fact("Left")).toBe("0 of 1, closed");
    expect(page.fact("Server's row")).toBe("closed");
    expect(page.statuses()).toEqual(["A call of 1 token would be denied (2 h)"]);
    page.clock.advance(2 * HOUR);
    expect(page.fact("Left")).toBe("1 of 1");
    expect(page.statuses()).toEqual(["A call of 1 token would be granted"]);
  });

  it("is closed as a page makes it of a denial, before the server says until when", async () => {
    const page = await follow({ kind: "token bucket", rate: 1, period: HOUR, blockFor: HOUR });
    await page.limiter.limit("a");
    const { retryAfter } = (await page.limiter.limit("a")) as { retryAfter: number };
    const { config, now } = page.observer.inspect().limits[0]!.snapshot!;
    const facts = { name: "a", value: 0, retryAfter, config, now };
    page.observer.receive(snapshotOfDenial({ name: "a" }, facts));
    expect(page.fact("Left")).toBe("0 of 1, closed");
    expect(page.fact("Server's row")).toBe("closed, written less than 1 s ago");
  });
});

it("says how many tokens are held, and not settled", async () => {
  const page = await follow(
    { kind: "token bucket", rate: 1, period: HOUR, capacity: 9, holds: true },
    {
      before: (limiter) =>
        limiter.limit("a", { count: 4, once: "x", hold: { for: HOUR, then: "release" } }),
    },
  );
  expect(page.fact("Held")).toBe("4 tokens, by calls that are not settled yet");
  expect(page.fact("Left")).toBe("5 of 9");
});

it("says that two shards deny what all of them would grant", async () => {
  const page = await follow({ kind: "token bucket", rate: 8, period: HOUR, shards: 4 });
  const [now, known] = [page.clock(), page.observer.inspect().limits[0]!.snapshot!];
  const one = { value: 0.5, ts: now };
  page.observer.receive({ ...known, value: 2, ts: now, fullest: [one, one] });
  page.observer.observe({ name: "a" }, 2, () => {});
  expect(page.fact("Left")).toBe("2 of 8");
  expect(page.statuses()).toEqual([
    "A call of 1 token would be granted",
    "A call of 2 tokens would be denied by two of the shards (15 min)",
  ]);
});

describe("the time", () => {
  const snapshot = (clock: () => number): RateLimitSnapshot => ({
    name: "a",
    value: 1,
    ts: clock() - HOUR,
    now: clock() - MINUTE,
    config: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  });

  /** A page whose server does not answer. */
  function silent(clock: () => number, cache?: SnapshotCache) {
    const transport = { status: () => new Promise<never>(() => {}), watch: () => () => {} };
    const observer = createRateLimitObserver({ clock, cache, transport });
    onTestFinished(() => observer.close());
    observer.observe({ name: "a" }, 1, () => {});
    return {
      observer,
      fact: (term: string) =>
        [...viewOf(observer).facts, ...viewOf(observer).limits[0]!.details!.facts].find(
          ([name]) => name === term,
        )?.[1],
    };
  }

  it("is at least so late, where only a message of the stream has told it", () => {
    const clock = createManualClock(START);
    const { observer, fact } = silent(clock);
    observer.receive({ ...snapshot(clock), now: START - 5 * SECOND });
    expect(fact("Server's clock")).toBe("at most 5 s behind");
    clock.advance(10 * SECOND);
    expect(fact("Last told")).toBe("at least 10 s ago");
    observer.receive({ ...snapshot(clock), now: START + 30 * SECOND });
    expect(fact("Server's clock")).toBe("at least 20 s ahead");
    expect(fact("Last told")).toBe("some time ago");
  });

  it("is that of the cache, until the server answers", () => {
    const clock = createManualClock(START);
    const cached = snapshot(clock);
    const { fact } = silent(clock, {
      get: () => cached,
      set() {},
      updatedAt: () => START - MINUTE,
    });
    expect(fact("Server's clock")).toBe("unknown");
    expect(fact("Server's row")).toBe("1 token, written 1 h ago");
    expect(fact("Last told")).toBe("1 min ago, from a cache");
    expect(fact("Left")).toBe("2 of 3");
  });
});

it("names the plan by which the server decides, and none of a limit without plans", async () => {
  const plans = { free: 5, pro: 50 };
  const clock = createManualClock(START);
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    limits: {
      pictures: { kind: "fixed window", period: DAY, start: 0, plans },
      signUp: { kind: "fixed window", rate: 5, period: DAY, start: 0 },
    },
    clock,
  });
  const shown = await limiter.snapshots([{ name: "pictures", plan: "pro" }, { name: "signUp" }]);
  const observer = createRateLimitObserver({
    clock,
    live: "off",
    transport: {
      status: async ({ name }) => shown.find((each) => each.name === name)!,
      watch: () => () => {},
    },
  });
  onTestFinished(() => observer.close());
  for (const name of ["pictures", "signUp"]) observer.observe({ name }, 1, () => {});
  await vi.waitFor(() => expect(observer.inspect().answered).toBe(2));
  const planOf = ({ details }: LimitView) => details!.facts.find(([term]) => term === "Plan")?.[1];
  expect(viewOf(observer).limits.map(planOf)).toEqual(["pro", undefined]);
});
