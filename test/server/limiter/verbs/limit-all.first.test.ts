/** `limitAll` with a `first` inside it: all or nothing, with the first of the inner list that grants. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  createRateLimiter,
  DAY,
  HOUR,
  isRateLimitError,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
  SECOND,
} from "../../../../server/index.js";
import { stores, storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  member: { kind: "token bucket", rate: 10, period: 10 * SECOND, usage: true },
  plan: { kind: "fixed window", rate: 5, period: DAY, start: 0, holds: true, usage: true },
  credits: { kind: "credits", holds: true, usage: true },
  heldMember: { kind: "token bucket", rate: 10, period: DAY, holds: true },
  shadow: { kind: "token bucket", rate: 1, period: DAY, shadow: true },
  sharded: { kind: "token bucket", rate: 20, period: DAY, shards: 2 },
} as const;
const key = "user 1|a\\";
const team = "team 1";
const planThenCredits = { first: ["plan", "credits"], key: team } as const;

describe.each(storesAndRedis)("limitAll with a first on %s", (_name, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits);
    const left = async () => ({
      member: (await at.limiter.getValue("member", { key })).value,
      plan: (await at.limiter.getValue("plan", { key: team })).value,
      credits: (await at.limiter.getValue("credits", { key: team })).value,
    });
    const call = (count: number) =>
      at.limiter.limitAll([
        { name: "member", key },
        { ...planThenCredits, count },
      ]);
    return { ...at, left, call };
  }

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it("takes of the first that has the tokens, together with the other limits", async () => {
    await at.limiter.credit("credits", { key: team, count: 20 });
    const byPlan = await at.call(4);
    expect(byPlan).toMatchObject({
      ok: true,
      results: [
        { ok: true, value: 9 },
        { ok: true, paid: [{ name: "plan", key: team, count: 4 }], results: [{ value: 1 }] },
      ],
    });
    const byCredits = await at.call(4);
    expect(byCredits).toMatchObject({
      results: [{ value: 8 }, { paid: [{ name: "credits", key: team, count: 4 }] }],
    });
    expect(await at.left()).toEqual({ member: 8, plan: 1, credits: 16 });
    const names = at.events.map(({ action, name, count }) => `${action} ${name} ${count}`);
    expect(names).toEqual([
      "credit credits 20",
      "limit member 1",
      "limit plan 4",
      "limit member 1",
      "limit credits 4",
    ]);
  });

  it("takes nothing of any limit where one of them denies", async () => {
    await at.limiter.credit("credits", { key: team, count: 3 });
    await at.limiter.limit("plan", { key: team, count: 5 });
    const denied = await at.call(4);
    expect(denied).toMatchObject({
      ok: false,
      name: "plan",
      results: [{ ok: true }, { ok: false }],
    });
    expect(await at.left()).toEqual({ member: 10, plan: 0, credits: 3 });

    await at.limiter.limit("member", { key, count: 10 });
    const byMember = await at.call(3);
    expect(byMember).toMatchObject({
      ok: false,
      retryAfter: SECOND,
      name: "member",
      results: [{ ok: false }, { ok: true, paid: [{ name: "credits", count: 3 }] }],
    });
    expect(await at.left()).toEqual({ member: 0, plan: 0, credits: 3 });
    await expect(at.limiter.settle(byMember.results[1], 1)).rejects.toThrow(
      "needs the result of a call that took tokens",
    );
    at.clock.advance(SECOND);
    expect(await at.call(3)).toMatchObject({ ok: true });
  });

  it("names the exhausted limits in the error, as limitAll and limitFirst do", async () => {
    await at.limiter.limit("plan", { key: team, count: 5 });
    await at.limiter.limit("member", { key, count: 10 });
    const items = [{ name: "member", key }, planThenCredits] as const;
    const error: unknown = await at.limiter
      .limitAll(items, { throws: true })
      .catch((thrown: unknown) => thrown);
    const facts = isRateLimitError(error) ? error.data.rateLimit : undefined;
    // Of the payers, the one that can pay first has the wait of both.
    expect(facts?.name).toBe("plan");
    expect(facts?.retryAfter).toBe((await at.limiter.limitAll(items)).retryAfter);
    expect(facts?.denials?.map(({ name }) => name)).toEqual(["member", "plan", "credits"]);
    const denied = at.events.filter(({ result }) => !result.ok).map(({ name }) => name);
    expect(denied).toEqual(["member", "plan", "credits", "member", "plan", "credits"]);
  });

  it("splits the count between the limits of a first", async () => {
    await at.limiter.credit("credits", { key: team, count: 3 });
    const answer = await at.limiter.limitAll([
      { name: "member", key },
      { ...planThenCredits, count: 7, split: true },
    ]);
    expect(answer.results[1]).toMatchObject({
      paid: [
        { name: "plan", count: 5 },
        { name: "credits", count: 2 },
      ],
    });
    expect(await at.left()).toEqual({ member: 9, plan: 0, credits: 1 });
    await at.limiter.settle(answer.results[1], 4);
    expect(await at.left()).toEqual({ member: 9, plan: 1, credits: 3 });
  });

  it("takes the plan, key and count of an inner limit before those of the list", async () => {
    await at.limiter.credit("credits", { key, count: 9 });
    const answer = await at.limiter.limitAll([
      {
        first: [
          { name: "plan", key, count: 6 },
          { name: "credits", count: 2 },
        ],
        key,
        count: 8,
      },
    ]);
    expect(answer.results[0]).toMatchObject({ paid: [{ name: "credits", key, count: 2 }] });
  });

  it("settles each result, and gives back to the limit that paid", async () => {
    await at.limiter.credit("credits", { key: team, count: 20 });
    await at.limiter.limit("plan", { key: team, count: 3 });
    const { results } = await at.call(4);
    await at.limiter.settle(results[1], 1);
    expect(await at.left()).toEqual({ member: 9, plan: 2, credits: 19 });
    // What is used beyond the estimate is charged to the first of the limits.
    await at.limiter.settle(results[1], 2);
    expect(await at.left()).toEqual({ member: 9, plan: 1, credits: 19 });
    await at.limiter.refund(results[1], { count: 9 });
    expect(await at.left()).toEqual({ member: 9, plan: 2, credits: 20 });
  });

  it("charges an id once, and repeats who paid what", async () => {
    await at.limiter.credit("credits", { key: team, count: 20 });
    await at.limiter.limit("plan", { key: team, count: 3 });
    const items = [
      { name: "member", key },
      { ...planThenCredits, count: 4 },
    ] as const;
    const first = await at.limiter.limitAll(items, { once: "a" });
    expect(first.results[1]).toMatchObject({ paid: [{ name: "credits" }] });
    const again = await at.peer.limitAll(items, { once: "a" });
    expect(again).toMatchObject({
      ok: true,
      results: [
        { ok: true, repeated: true, value: 9 },
        { ok: true, repeated: true, paid: [], results: [{ ok: false }, { value: 16 }] },
      ],
    });
    expect(await at.left()).toEqual({ member: 9, plan: 2, credits: 16 });
  });

  it("holds the tokens of all limits with holds under one id, and settles them together", async () => {
    await at.limiter.credit("credits", { key: team, count: 20 });
    const items = [
      { name: "heldMember", key, count: 6 },
      { name: "member", key },
      { ...planThenCredits, count: 6 },
    ] as const;
    const hold = { for: HOUR, then: "keep" } as const;
    const call = (once: string) => at.limiter.limitAll(items, { once, hold });
    await call("a");
    expect(await at.peer.holds("heldMember", { key })).toMatchObject([{ once: "a", count: 6 }]);
    expect(await at.peer.holds("credits", { key: team })).toMatchObject([{ once: "a", count: 6 }]);
    const all = [
      { name: "heldMember", key },
      { name: "plan", key: team },
      { name: "credits", key: team },
    ] as const;
    const some = at.peer.settle(all.slice(1), { once: "a" }, 2);
    await expect(some).rejects.toThrow("the hold of this id is of 2 limits");
    expect(await at.peer.settle(all, { once: "a" }, 2)).toMatchObject({ settled: true, count: 6 });
    expect((await at.limiter.getValue("heldMember", { key })).value).toBe(8);
    expect(await at.left()).toEqual({ member: 9, plan: 5, credits: 18 });
    // By the results: each ends its own hold.
    const answer = await at.limiter.limitAll(
      [
        { name: "heldMember", key, count: 5 },
        { ...planThenCredits, count: 4 },
      ],
      { once: "b", hold },
    );
    for (const result of answer.results) await at.limiter.settle(result, 1);
    expect((await at.limiter.getValue("heldMember", { key })).value).toBe(7);
    expect(await at.left()).toEqual({ member: 9, plan: 4, credits: 18 });
    const today = Math.floor(at.clock() / DAY) * DAY;
    const range = { key: team, from: today, to: today + DAY };
    const { total } = await at.limiter.usage("plan", range);
    expect(total).toMatchObject({ granted: 1, taken: 4, givenBack: 3 });
  });

  it("ends lapsed holds of a limit of the first before it denies", async () => {
    const hold = { for: MINUTE, then: "release" } as const;
    await at.limiter.limit("plan", { key: team, count: 5, once: "a", hold });
    expect(await at.call(4)).toMatchObject({ ok: false, name: "plan", retryAfter: MINUTE });
    at.clock.advance(MINUTE);
    expect(await at.call(4)).toMatchObject({ ok: true });
  });

  it("takes a slot and a first together", async () => {
    await using opened = await open();
    const limiter = createRateLimiter({
      store: opened.store,
      limits: { ...limits, jobs: { kind: "concurrency", slots: 2 } },
    });
    await limiter.credit("credits", { key, count: 3 });
    const enter = () =>
      limiter.enter("jobs", { key, with: [{ first: ["plan", "credits"], key, count: 3 }] });
    const slots = [await enter(), await enter()];
    expect(slots).toMatchObject([
      { ok: true, results: [{ paid: [{ name: "plan" }] }] },
      { ok: true, results: [{ paid: [{ name: "credits" }] }] },
    ]);
    for (const slot of slots) if (slot.ok) await slot.release();
    const denied = await enter();
    expect(denied).toMatchObject({ ok: false, name: "plan", results: [{ ok: false }] });
    expect((await limiter.check("jobs", { key })).value).toBe(2);
  });

  it("takes exactly what is there, of many calls at a time", async () => {
    await at.limiter.credit("credits", { key: team, count: 4 });
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_each, i) => {
        const limiter = i % 2 === 0 ? at.limiter : at.peer;
        return limiter.limitAll([{ name: "member", key }, planThenCredits]);
      }),
    );
    const paid = answers.flatMap(({ ok, results: [, first] }) =>
      ok && first.ok ? first.paid.map(({ name }) => name) : [],
    );
    expect(paid.toSorted()).toEqual([...Array(4).fill("credits"), ...Array(5).fill("plan")]);
    expect(await at.left()).toEqual({ member: 1, plan: 0, credits: 0 });
  });
});

describe.each(stores)("limitAll with a first in a transaction on %s", (_name, open) => {
  it("commits all of it, or nothing", async () => {
    const at = await twoProcesses(open, limits);
    await at.limiter.credit("credits", { key: team, count: 9 });
    const items = [
      { name: "member", key },
      { ...planThenCredits, count: 4 },
    ] as const;
    await at.limiter.transaction(({ limitAll }) => limitAll(items));
    const failing = at.limiter.transaction(async ({ limitAll, settle }) => {
      const { results } = await limitAll(items);
      expect(results[1]).toMatchObject({ paid: [{ name: "credits" }] });
      await settle(results[1], 1);
      throw new Error("roll back");
    });
    await expect(failing).rejects.toThrow("roll back");
    expect((await at.limiter.getValue("credits", { key: team })).value).toBe(9);
    expect((await at.limiter.getValue("member", { key })).value).toBe(9);
  });
});

describe("a first of limitAll", () => {
  it("asks an inner limit by the plan of its key", async () => {
    const planned = createRateLimiter({
      store: memoryStore(),
      plans: ["free", "pro"],
      plan: ({ key: of }) => (of === "paying" ? "pro" : "free"),
      limits: {
        pictures: { kind: "fixed window", period: DAY, plans: { free: 1, pro: 5 } },
        credits: { kind: "credits" },
      },
    });
    const draw = async (of: string) =>
      (await planned.limitAll([{ first: ["pictures", { name: "credits" }], key: of, count: 3 }]))
        .ok;
    await expect(draw("ann")).resolves.toBe(false);
    expect(await draw("paying")).toBe(true);
  });

  it("passes in an outage if one of its limits lets calls through, and all others do", async () => {
    const open = { kind: "token bucket", rate: 1, period: DAY, whenStoreFails: "allow" } as const;
    const limiter = createRateLimiter({
      store: { apply: () => Promise.reject(new RateLimitStoreError("the database is down")) },
      limits: { ...limits, open, other: open },
      overrides: false,
      logger: false,
    });
    const answer = await limiter.limitAll([{ name: "other" }, { first: ["plan", "open"] }]);
    expect(answer).toMatchObject({
      ok: true,
      results: [{ storeFailed: true }, { ok: true, paid: [], results: [{ storeFailed: true }] }],
    });
    const closed = limiter.limitAll([{ name: "other" }, { first: ["plan", "credits"] }]);
    await expect(closed).rejects.toThrow("the database is down");
    const all = limiter.limitAll([{ name: "member" }, { first: ["open"] }]);
    await expect(all).rejects.toThrow("the database is down");
  });
});
