/** What the events of decisions say of the bucket, and of the request that a decision was for. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  type DecisionEvent,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
  type RateLimitStore,
} from "../../../../server/index.js";

const START = Date.UTC(2030, 0, 1);
const window = { kind: "fixed window", rate: 10, period: DAY, start: 0 } as const;
const limits = {
  bucket: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 4 },
  window: { ...window, onceFor: DAY, holds: true },
  shards: { ...window, shards: 2 },
  credits: { kind: "credits" },
  capped: { kind: "credits", capacity: 50 },
  slots: { kind: "concurrency", slots: 4 },
  open: { ...window, whenStoreFails: "allow" },
  shadow: { ...window, shadow: true },
} as const;
const key = "ann";

interface Context {
  requestId: string;
}
const of = (requestId: string): { context: Context } => ({ context: { requestId } });

function start() {
  const clock = createManualClock(START);
  const memory = memoryStore() as RateLimitStore;
  const down = { is: false };
  const store: RateLimitStore = {
    ...memory,
    apply: (...args) =>
      down.is ? Promise.reject(new RateLimitStoreError("down")) : memory.apply(...args),
  };
  delete store.submit;
  const heard: DecisionEvent[] = [];
  const limiter = createRateLimiter({
    store,
    limits,
    clock,
    sleep: clock.sleep,
    overrides: true,
    logger: false,
    onDecision: (event) => void heard.push(event),
  });
  const shares = () =>
    heard.splice(0).map(({ name, capacity, share }) => [name, capacity, share] as const);
  return { limiter, heard, shares, down, clock };
}

describe("capacity and share", () => {
  it("say how much of a bucket is used after the decision", async () => {
    const { limiter, shares } = start();
    await limiter.limit("bucket", { key });
    await limiter.limit("bucket", { key, count: 3 });
    await limiter.limit("bucket", { key });
    await limiter.check("bucket", { key });
    await limiter.charge("bucket", { key, count: 2 });
    expect(shares()).toEqual([
      ["bucket", 4, 0.25],
      ["bucket", 4, 1],
      ["bucket", 4, 1],
      ["bucket", 4, 1],
      // A debt of half of the capacity.
      ["bucket", 4, 1.5],
    ]);
  });

  it("are those of each limit of a call, and of slots", async () => {
    const { limiter, shares } = start();
    await limiter.limitAll([
      { name: "bucket", key },
      { name: "window", key, count: 3 },
    ]);
    await limiter.limitFirst(["bucket", "window"], { key, count: 5, split: true });
    await using slot = await limiter.enter("slots", { key });
    expect(slot.ok).toBe(true);
    expect(shares()).toEqual([
      ["bucket", 4, 0.25],
      ["window", 10, 0.3],
      ["bucket", 4, 1],
      ["window", 10, 0.5],
      ["slots", 4, 0.25],
    ]);
  });

  it("are of the rows of a call where a limit has several", async () => {
    const { limiter, shares } = start();
    await limiter.limit("shards", { key });
    expect(shares()).toEqual([["shards", 10, undefined]]);
  });

  it("are left out where they are not known", async () => {
    const { limiter, shares, down } = start();
    await limiter.credit("credits", { key, count: 5 });
    await limiter.limit("credits", { key });
    await limiter.credit("capped", { key, count: 40 });
    await limiter.limit("window", { key, once: "a" });
    await limiter.limit("window", { key, once: "a" });
    await limiter.overrides.set("window", { key: "bob", unlimited: true });
    await limiter.limit("window", { key: "bob" });
    await limiter.limit("shadow", { key, count: 10 });
    await limiter.limit("shadow", { key });
    down.is = true;
    await limiter.limit("open", { key });
    expect(shares()).toEqual([
      ["credits", undefined, undefined],
      ["credits", undefined, undefined],
      ["capped", 50, 0.2],
      ["window", 10, 0.1],
      // The first answer again, of whatever instant.
      ["window", 10, undefined],
      ["window", 10, undefined],
      ["shadow", 10, 1],
      ["shadow", 10, 1],
      ["open", 10, undefined],
    ]);
  });
});

describe("the context of a request", () => {
  it("is that which the call gives, in each operation", async () => {
    const { limiter, heard } = start();
    const hold = { for: MINUTE, then: "keep" } as const;
    await limiter.limit("bucket", { key, ...of("limit") });
    await limiter.limit("window", { key, once: "a", hold, ...of("held") });
    await limiter.check("window", { key, ...of("check") });
    await limiter.charge("bucket", { key, ...of("charge") });
    await limiter.charge("window", { key, once: "b", ...of("once") });
    await limiter.limitAll(
      [
        { name: "bucket", key },
        { name: "window", key },
      ],
      of("all"),
    );
    await limiter.limitFirst(["window"], { key, ...of("first") });
    await limiter.acquire("bucket", { key: "bob", ...of("acquire") });
    const tokens = [{ name: "window" as const, key }];
    await using slot = await limiter.enter("slots", { key, with: tokens, ...of("enter") });
    expect(slot.ok).toBe(true);
    await limiter.transaction(async (tx) => {
      await tx.limit("bucket", { key: "tx", ...of("transaction") });
    });
    // What was used beyond the estimate.
    const taken = await limiter.limit("window", { key: "carl", ...of("settled") });
    await limiter.settle(taken, 2);
    const paid = await limiter.limitFirst(["window"], { key: "carl", ...of("paid") });
    await limiter.settle(paid, 2);
    const many = await limiter.limit("window", { key: "dora", atLeast: 1, ...of("many") });
    await limiter.settle(many, 2);
    await limiter.limit("bucket", { key: "none" });
    expect(heard.map(({ context }) => (context as Context | undefined)?.requestId)).toEqual([
      "limit",
      "held",
      "check",
      "charge",
      "once",
      "all",
      "all",
      "first",
      "acquire",
      "enter",
      "enter",
      "transaction",
      "settled",
      "settled",
      "paid",
      "paid",
      "many",
      "many",
      undefined,
    ]);
    expect(heard.at(-1)).not.toHaveProperty("context");
  });

  it("is there with a denial, in a line of slots and of tokens, too", async () => {
    const { limiter, heard } = start();
    await limiter.limit("bucket", { key, count: 4 });
    heard.length = 0;
    await limiter.limit("bucket", { key, ...of("limit") });
    await expect(limiter.acquire("bucket", { key, maxWait: 1, ...of("acquire") })).rejects.toThrow(
      "exceeded",
    );
    const slots = await Promise.all([1, 2, 3, 4].map(() => limiter.enter("slots", { key })));
    heard.length = 0;
    await limiter.enter("slots", { key, ...of("slots") });
    for (const slot of slots) if (slot.ok) await slot.release();
    expect(heard.map(({ context }) => context)).toEqual([{ requestId: "slots" }]);
  });

  it("is of any type that a listener knows", async () => {
    const ids: (string | undefined)[] = [];
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits,
      onDecision: ({ context }: DecisionEvent<Context>) => void ids.push(context?.requestId),
    });
    limiter.onDecision(({ context }: DecisionEvent<Context>) => void ids.push(context?.requestId));
    await limiter.limit("bucket", { key, ...of("a") });
    expect(ids).toEqual(["a", "a"]);
  });
});
