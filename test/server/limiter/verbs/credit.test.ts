/** Credits: a balance that only `credit` raises, and that no call takes below zero. */
import { beforeEach, describe, expect, it } from "vitest";
import { DAY, WEEK, MAX_RETRY_AFTER, MINUTE } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  credits: { kind: "credits" },
  stamps: { kind: "credits", capacity: 10 },
  plan: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;

const NEVER = MAX_RETRY_AFTER;

describe.each(storesAndRedis)("credit on %s", (kind, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    return {
      ...at,
      balance: async (key: string) => (await at.limiter.getValue("credits", { key })).value,
    };
  }

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it("raises a balance that holds nothing at first and never refills", async () => {
    expect(await at.balance("ada")).toBe(0);
    expect(await at.limiter.limit("credits", { key: "ada" })).toEqual({
      ok: false,
      retryAfter: NEVER,
      value: 0,
    });
    expect(await at.limiter.credit("credits", { key: "ada", count: 5 })).toEqual({
      value: 5,
      credited: 5,
    });
    expect(await at.limiter.limit("credits", { key: "ada", count: 3 })).toMatchObject({
      ok: true,
      value: 2,
    });
    at.clock.advance(1000 * DAY);
    expect(await at.balance("ada")).toBe(2);
    expect(await at.limiter.limit("credits", { key: "ada", count: 3 })).toEqual({
      ok: false,
      retryAfter: NEVER,
      value: 2,
    });
    expect(await at.limiter.limit("credits", { key: "ada", count: 2 })).toMatchObject({ value: 0 });
    expect(await at.balance("bob")).toBe(0);
  });

  it("adds no more than the capacity has room for, and says how much", async () => {
    await at.limiter.credit("stamps", { key: "k", count: 7 });
    expect(await at.limiter.credit("stamps", { key: "k", count: 7 })).toEqual({
      value: 10,
      credited: 3,
    });
    expect(await at.limiter.credit("stamps", { key: "k", count: 1 })).toEqual({
      value: 10,
      credited: 0,
    });
  });

  it("is reported to onDecision", async () => {
    await at.limiter.credit("credits", { key: "k", count: 4 });
    expect(at.events).toMatchObject([
      { action: "credit", name: "credits", key: "k", count: 4, result: { ok: true, value: 4 } },
    ]);
  });

  it("repays what charge and settle have overdrawn", async () => {
    await at.limiter.credit("credits", { key: "k", count: 10 });
    const call = await at.limiter.limit("credits", { key: "k", count: 10 });
    await at.limiter.settle(call, 12);
    expect(await at.balance("k")).toBe(-2);
    expect(await at.limiter.charge("credits", { key: "k", count: 1 })).toEqual({
      value: -3,
      retryAfter: NEVER,
    });
    await at.limiter.credit("credits", { key: "k", count: 5 });
    expect(await at.balance("k")).toBe(2);
    await at.limiter.settle(call, 4);
    expect(await at.balance("k")).toBe(10);
  });

  it("gives back all tokens of a call, whatever was charged meanwhile", async () => {
    await at.limiter.credit("credits", { key: "k", count: 100 });
    const result = await at.limiter.limit("credits", { key: "k", count: 100 });
    await at.limiter.charge("credits", { key: "k", count: 50 });
    at.clock.advance(DAY);
    await at.limiter.refund("credits", { key: "k", count: 100, result });
    expect(await at.balance("k")).toBe(50);
  });

  it("survives prune, which deletes only what is spent", async () => {
    await at.limiter.credit("stamps", { key: "full", count: 10 });
    await at.limiter.credit("credits", { key: "rich", count: 1 });
    await at.limiter.credit("credits", { key: "spent", count: 1 });
    await at.limiter.limit("credits", { key: "spent" });
    await at.limiter.charge("credits", { key: "owing", count: 1 });
    at.clock.advance(1000 * DAY);
    // Redis deletes by itself what is spent, when its time to live is over.
    expect(await at.limiter.prune()).toBe(kind === "Redis" ? 0 : 1);
    expect((await at.limiter.getValue("stamps", { key: "full" })).value).toBe(10);
    expect([await at.balance("rich"), await at.balance("owing")]).toEqual([1, -1]);
    const { items } = await at.limiter.list("credits");
    const left = items.filter(({ value }) => value !== 0);
    expect(Object.fromEntries(left.map(({ key, value }) => [key, value]))).toEqual({
      owing: -1,
      rich: 1,
    });
    await at.limiter.credit("credits", { key: "spent", count: 3 });
    expect(await at.balance("spent")).toBe(3);
  });

  it("is seen by another process, in snapshots and in transactions", async () => {
    await at.limiter.credit("credits", { key: "k", count: 6 });
    expect(await at.peer.check("credits", { key: "k", count: 6 })).toMatchObject({ ok: true });
    const [snapshot] = await at.peer.snapshots([{ name: "credits", key: "k" }]);
    expect(snapshot).toMatchObject({
      name: "credits",
      value: 6,
      config: { kind: "credits" },
    });
    expect(await at.limiter.forget("k")).toBe(1);
    expect(await at.balance("k")).toBe(0);
  });

  it("adds what was bought once, however often the payment is told", async () => {
    const pay = (limiter: typeof at.limiter) =>
      limiter.credit("credits", { key: "k", count: 100, once: "payment 1" });
    const told = await Promise.all([at.limiter, at.peer, at.limiter, at.peer].map(pay));
    expect(told.map(({ credited }) => credited).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 100]);
    await at.limiter.limit("credits", { key: "k", count: 30, once: "payment 1" });
    expect(await pay(at.limiter)).toEqual({ value: 100, credited: 0, repeated: true });
    expect(await at.balance("k")).toBe(70);
    await at.limiter.credit("credits", { key: "k", count: 1, once: "payment 2" });
    expect(await at.balance("k")).toBe(71);
    at.clock.advance(WEEK);
    expect(await pay(at.limiter)).toEqual({ value: 171, credited: 100 });
  });

  it("takes ids of 190 characters together with the key", async () => {
    const paid = await at.limiter.credit("credits", { key: "k", count: 1, once: "p".repeat(189) });
    expect(paid).toMatchObject({ credited: 1 });
  });

  it("keeps the ids of payments apart from those of calls, whatever these are", async () => {
    await at.limiter.credit("credits", { key: "k", count: 5, once: "payment" });
    for (const once of ["payment", "+payment", "|payment", "1payment"]) {
      const result = await at.peer.limit("credits", { key: "k", once });
      expect(result).not.toHaveProperty("repeated");
    }
    expect(await at.balance("k")).toBe(1);
  });

  it("never grants more than there is to calls at the same time", async () => {
    await at.limiter.credit("credits", { key: "k", count: 50 });
    const calls = Array.from({ length: 80 }, (__, i) =>
      (i % 2 ? at.limiter : at.peer).limit("credits", { key: "k" }),
    );
    const granted = (await Promise.all(calls)).filter(({ ok }) => ok);
    expect(granted).toHaveLength(50);
    expect(await at.balance("k")).toBe(0);
  });
});
