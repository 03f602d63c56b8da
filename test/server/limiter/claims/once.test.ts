/** `once`: the same id is charged once, and gets the first answer again. */
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  MINUTE,
  RateLimitConfigError,
  SECOND,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  bucket: { kind: "token bucket", rate: 6, period: MINUTE },
  window: { kind: "fixed window", rate: 10, period: HOUR, start: 0 },
  months: { kind: "fixed window", rate: 10, period: "month", start: 0 },
  short: { kind: "token bucket", rate: 1, period: DAY, onceFor: MINUTE },
  closing: { kind: "token bucket", rate: 1, period: MINUTE, blockFor: [HOUR, 2 * HOUR] },
  leased: { kind: "token bucket", rate: 60, period: MINUTE, lease: { ms: 1000 } },
  remembered: { kind: "token bucket", rate: 1, period: HOUR, rememberDenials: HOUR },
  shadow: { kind: "token bucket", rate: 1, period: HOUR, shadow: true },
  sharded: { kind: "token bucket", rate: 6, period: MINUTE, shards: 3 },
} as const;
const key = "user 1|a\\";

describe.each(storesAndRedis)("once on %s", (_, open) => {
  const setUp = () => twoProcesses(open, limits);

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it.each(["bucket", "window", "months"] as const)(
    "takes the tokens once, and gives the first answer again, in every process, with %s",
    async (name) => {
      const first = await at.limiter.limit(name, { key, count: 2, once: "a" });
      expect(first).toMatchObject({ ok: true });
      expect(first).not.toHaveProperty("repeated");
      const { value } = await at.limiter.getValue(name, { key });
      at.clock.advance(SECOND);
      for (const limiter of [at.peer, at.limiter]) {
        const again = await limiter.limit(name, { key, count: 2, once: "a" });
        expect(again).toEqual({ ...first, repeated: true });
        expect(await limiter.check(name, { key, once: "a" })).toEqual(again);
      }
      at.clock.advance(-SECOND);
      expect(await at.limiter.getValue(name, { key })).toMatchObject({ value });
    },
  );

  it("charges one of many calls with the same id at the same time", async () => {
    const calls = Array.from({ length: 40 }, (_each, i) =>
      (i % 2 === 0 ? at.limiter : at.peer).limit("window", {
        key,
        once: `id ${i % 4 < 2 ? 1 : 2}`,
      }),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => !("repeated" in answer))).toHaveLength(2);
    expect((await at.limiter.getValue("window", { key })).value).toBe(8);
  });

  it("takes for another id, another key, another limit and no id", async () => {
    await at.limiter.limit("bucket", { key, once: "a" });
    await at.limiter.limit("bucket", { key, once: "b" });
    await at.limiter.limit("bucket", { key });
    expect((await at.limiter.getValue("bucket", { key })).value).toBe(3);
    for (const [other, once] of [
      ["user 1", "a\\|a"],
      ["user 1|a", "\\|a"],
      ["user 1|a\\|a", "a"],
    ] as const) {
      await at.limiter.limit("bucket", { key: other, once });
      expect((await at.limiter.getValue("bucket", { key: other })).value).toBe(5);
    }
    await at.limiter.limit("bucket", { once: "a" });
    expect((await at.limiter.getValue("bucket")).value).toBe(5);
    await at.limiter.limit("window", { key, once: "a" });
    expect((await at.limiter.getValue("window", { key })).value).toBe(9);
  });

  it("remembers no denial: the same call passes once there are tokens", async () => {
    await at.limiter.limit("remembered", { key, once: "a" });
    for (const once of ["b", "b"]) {
      expect(await at.limiter.limit("remembered", { key, once })).toMatchObject({ ok: false });
    }
    // The id that was granted gets its grant, although a denial is known.
    await at.limiter.limit("remembered", { key });
    expect(await at.limiter.limit("remembered", { key, once: "a" })).toMatchObject({ ok: true });
    at.clock.advance(HOUR);
    const granted = await at.limiter.limit("remembered", { key, once: "b" });
    expect(granted).toMatchObject({ ok: true });
    expect(granted).not.toHaveProperty("repeated");
  });

  it("tells the rest of the wait to a reservation that is repeated", async () => {
    const options = { key, count: 8, reserve: true, once: "a" };
    expect(await at.limiter.limit("bucket", options)).toMatchObject({ retryAfter: 20 * SECOND });
    at.clock.advance(15 * SECOND);
    expect(await at.peer.limit("bucket", options)).toMatchObject({ ok: true, retryAfter: 5000 });
    at.clock.advance(5 * SECOND);
    const due = await at.peer.limit("bucket", options);
    expect(due).toMatchObject({ ok: true, repeated: true });
    expect(due).not.toHaveProperty("retryAfter");
  });

  it("forgets an id after onceFor, to the ms", async () => {
    await at.limiter.limit("short", { key, once: "a" });
    at.clock.advance(MINUTE - 1);
    expect(await at.limiter.limit("short", { key, once: "a" })).toMatchObject({ repeated: true });
    at.clock.advance(1);
    expect(await at.limiter.limit("short", { key, once: "a" })).toMatchObject({ ok: false });
  });

  it("remembers an id for a week, where nothing else is said", async () => {
    await at.limiter.limit("bucket", { key, once: "a" });
    for (const later of [3 * DAY, 4 * DAY - 1]) {
      at.clock.advance(later);
      expect(await at.peer.limit("bucket", { key, once: "a" })).toMatchObject({ repeated: true });
    }
    at.clock.advance(1);
    expect(await at.peer.limit("bucket", { key, once: "a" })).not.toHaveProperty("repeated");
  });

  it("charges an id once, into debt", async () => {
    const first = await at.limiter.charge("bucket", { key, count: 9, once: "a" });
    expect(first).toEqual({ value: -3, retryAfter: 30 * SECOND });
    const again = await at.peer.charge("bucket", { key, count: 9, once: "a" });
    expect(again).toEqual({ ...first, repeated: true });
    expect((await at.limiter.getValue("bucket", { key })).value).toBe(-3);
    const events = at.events.filter(({ action }) => action === "charge");
    expect(events.map(({ result }) => result.ok && result.repeated)).toEqual([undefined, true]);
  });

  it("takes from several limits once, and from those alone that have not seen the id", async () => {
    await at.limiter.limit("bucket", { key, once: "a" });
    const items = [
      { name: "bucket", key },
      { name: "window", key },
      { name: "window", key, count: 2 },
    ] as const;
    const first = await at.limiter.limitAll(items, { once: "a" });
    expect(first.results.map((result) => result.ok && result.repeated)).toEqual([
      true,
      undefined,
      undefined,
    ]);
    const again = await at.peer.limitAll(items, { once: "a" });
    expect(again.results.map((result) => result.ok && result.repeated)).toEqual([true, true, true]);
    expect((await at.limiter.getValue("bucket", { key })).value).toBe(5);
    expect((await at.limiter.getValue("window", { key })).value).toBe(7);
  });

  it("remembers nothing of several limits that were denied together", async () => {
    await at.limiter.limit("remembered", { key });
    const items = [
      { name: "bucket", key },
      { name: "remembered", key },
    ] as const;
    expect((await at.limiter.limitAll(items, { once: "a" })).ok).toBe(false);
    at.clock.advance(HOUR);
    const granted = await at.limiter.limitAll(items, { once: "a" });
    expect(granted.results.some((result) => result.ok && result.repeated)).toBe(false);
    expect((await at.limiter.getValue("bucket", { key })).value).toBe(5);
  });

  it("settles and refunds a repeated answer by nothing", async () => {
    await at.limiter.limit("bucket", { key, count: 4, once: "a" });
    const again = await at.peer.limit("bucket", { key, count: 4, once: "a" });
    await at.peer.settle(again, 0);
    await at.peer.settle(again, 6);
    await at.peer.refund("bucket", { key, count: 4, result: again });
    await at.peer.refund("bucket", { key, count: 4, result: { ...again } });
    expect((await at.limiter.getValue("bucket", { key })).value).toBe(2);
    expect(await at.peer.limit("bucket", { key, once: "a" })).toMatchObject({ repeated: true });
  });

  it("forgets the id of a call whose tokens all came back, and not of one that keeps some", async () => {
    const first = await at.limiter.limit("bucket", { key, count: 4, once: "a" });
    await at.limiter.settle(first, 1);
    expect(await at.limiter.limit("bucket", { key, once: "a" })).toMatchObject({ repeated: true });
    await at.limiter.settle(first, 0);
    const second = await at.limiter.limit("bucket", { key, count: 2, once: "a" });
    expect(second).not.toHaveProperty("repeated");
    // The first call has nothing left to give back, and says nothing of the second one.
    await at.limiter.refund("bucket", { key, count: 4, result: first });
    expect(await at.limiter.limit("bucket", { key, once: "a" })).toMatchObject({ repeated: true });
    const both = [{ name: "window", key }] as const;
    const { results } = await at.limiter.limitAll(both, { once: "b" });
    await at.limiter.settle(results[0]!, 0);
    expect((await at.limiter.limitAll(both, { once: "b" })).results[0]).not.toHaveProperty(
      "repeated",
    );
  });

  it("asks the row of a limit with a lease", async () => {
    await at.limiter.limit("leased", { key, once: "a" });
    expect(await at.peer.limit("leased", { key, once: "a" })).toMatchObject({ repeated: true });
  });

  it("lets a shadow's calls through, and remembers those that took tokens", async () => {
    await at.limiter.limit("shadow", { key, once: "a" });
    const denied = await at.limiter.limit("shadow", { key, once: "b" });
    expect(denied).toMatchObject({ ok: true, shadow: { ok: false } });
    expect(await at.limiter.limit("shadow", { key, once: "a" })).toMatchObject({ repeated: true });
    expect(await at.limiter.limit("shadow", { key, once: "b" })).toMatchObject({
      shadow: { ok: false },
    });
  });

  it("closes a bucket by a denial, and still repeats the grant before it", async () => {
    await at.limiter.limit("closing", { key, once: "a" });
    expect(await at.limiter.limit("closing", { key, once: "b" })).toMatchObject({
      retryAfter: HOUR + MINUTE,
    });
    expect(await at.limiter.limit("closing", { key, once: "a" })).toMatchObject({ repeated: true });
    expect(await at.limiter.limit("closing", { key, once: "b" })).toMatchObject({ ok: false });
  });

  it("takes ids of 190 characters, and none with shards", async () => {
    expect(await at.limiter.limit("bucket", { once: "a".repeat(190) })).toMatchObject({ ok: true });
    // @ts-expect-error shards have no row for an id
    const sharded = at.limiter.limit("sharded", { once: "a" });
    await expect(sharded).rejects.toThrow(RateLimitConfigError);
  });

  it("has its rows under a name of their own, which forget finds by the key", async () => {
    for (const other of [key, "user 1", "user 1|a"]) {
      for (const once of ["a", "b"]) await at.limiter.limit("bucket", { key: other, once });
    }
    expect((await at.limiter.list("bucket")).items).toHaveLength(3);
    expect(await at.limiter.forget("user 1")).toBe(3);
    expect(await at.limiter.limit("bucket", { key: "user 1", once: "a" })).not.toHaveProperty(
      "repeated",
    );
    for (const other of [key, "user 1|a"]) {
      const again = await at.peer.limit("bucket", { key: other, once: "b" });
      expect(again).toMatchObject({ repeated: true });
    }
  });

  it("is no trace of an id in the table with hashKey", async () => {
    const hashKey = (text: string) => `h${[...text].map((c) => c.codePointAt(0)).join("")}`;
    const hashing = createRateLimiter({ store: at.store, clock: at.clock, limits, hashKey });
    await hashing.limit("bucket", { key: "mail", once: "nonce" });
    expect(await hashing.limit("bucket", { key: "mail", once: "nonce" })).toMatchObject({
      repeated: true,
    });
    const rows = await at.store.list!("trpc-rate-limit:once:bucket", undefined, 10);
    expect(rows.map((row) => row.key)).toEqual([`${hashKey("mail")}|${hashKey("nonce")}`]);
    expect(await hashing.forget("mail")).toBe(2);
  });
});

describe.each(storesAndRedis.filter(([name]) => name !== "Redis"))(
  "ids in the rows of %s",
  (_, open) => {
    it("are rolled back with a transaction, and committed with it", async () => {
      await using opened = await open();
      const limiter = createRateLimiter({ store: opened.store, limits });
      const take = (fails: boolean) =>
        limiter.transaction(async ({ limit }) => {
          const result = await limit("window", { key, once: "a" });
          if (fails) throw new Error("rolled back");
          return result;
        });
      await expect(take(true)).rejects.toThrow("rolled back");
      expect(await take(false)).not.toHaveProperty("repeated");
      expect(await take(false)).toMatchObject({ ok: true, repeated: true });
      expect((await limiter.getValue("window", { key })).value).toBe(9);
    });

    it("go when they have lapsed, and not before, whatever was left in their bucket", async () => {
      await using opened = await open();
      const clock = createManualClock();
      const oneOff = { kind: "token bucket", rate: 5000, period: SECOND } as const;
      const planned = {
        kind: "token bucket",
        period: SECOND,
        plans: { free: 1, pro: 5000 },
      } as const;
      const limiter = createRateLimiter({
        store: opened.store,
        clock,
        plans: ["free", "pro"],
        limits: { ...limits, oneOff, planned },
        onceFor: HOUR,
      });
      await limiter.limit("short", { key, once: "a" });
      await limiter.charge("bucket", { key, count: 900, once: "a" });
      // Of a call's own config, which has no plan, and of each plan.
      await limiter.limit("oneOff", { key, config: { ...oneOff, rate: 1 }, once: "a" });
      await limiter.limit("planned", { key: "free", plan: "free", once: "a" });
      await limiter.limit("planned", { key: "pro", plan: "pro", once: "a" });
      const names = ["short", "bucket", "oneOff", "planned"];
      const idsOf = async (name: string) =>
        (await opened.store.list!(`trpc-rate-limit:once:${name}`, undefined, 10)).length;
      // The clocks of other servers may be a minute behind.
      clock.advance(2 * MINUTE - 1);
      await limiter.prune();
      expect(await Promise.all(names.map(idsOf))).toEqual([1, 1, 1, 2]);
      clock.advance(1);
      await limiter.prune();
      expect(await Promise.all(names.map(idsOf))).toEqual([0, 1, 1, 2]);
      clock.advance(59 * MINUTE);
      await limiter.prune();
      expect(await Promise.all(names.map(idsOf))).toEqual([0, 0, 0, 0]);
    });
  },
);
