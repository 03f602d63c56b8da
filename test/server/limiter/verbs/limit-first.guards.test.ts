/** `limitFirst`, while another process gives back or takes tokens between its read and its write. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import { createRateLimiter, MINUTE, type RateLimitResult } from "../../../../server/index.js";
import { racingStore } from "../../../support/racing-store.js";
import { stores } from "../../../support/stores.js";

const limits = {
  plan: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 },
  /** Two shards of 10 tokens. Each call reads both. */
  wide: { kind: "token bucket", rate: 20, period: MINUTE, shards: 2 },
  credits: { kind: "credits" },
} as const;
type Name = keyof typeof limits;

const key = "ada";

describe.each(stores)("limitFirst on %s, in a race", (_, open) => {
  /** The plan and both shards are empty. */
  async function setUp(credits: number) {
    const opened = await open();
    const { store, race } = racingStore(opened.store);
    const clock = createManualClock();
    const limiter = createRateLimiter({ store, clock, limits });
    const peer = createRateLimiter({ store: opened.peer, clock, limits });
    const takings: RateLimitResult[] = [];
    for (let i = 0; i < 2; i++) takings.push(await peer.limit("wide", { key, count: 10 }));
    await peer.limit("plan", { key, count: 10 });
    await peer.credit("credits", { key, count: credits });
    const left = async (name: Name) => (await peer.getValue(name, { key })).value;
    return {
      limiter,
      peer,
      race,
      leftOfAll: async () => [await left("plan"), await left("wide"), await left("credits")],
      /** Another process gives tokens back to one of the shards. */
      fill: (shard: number, count: number) => {
        const taking = takings.find((result) => result.ok && result.shards![0]!.shard === shard);
        return peer.refund("wide", { key, count, result: taking! });
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }

  const lists: (readonly Name[])[] = [
    ["wide", "credits"],
    ["plan", "wide", "credits"],
  ];
  const cases = lists.flatMap((names) => [0, 1].map((shard) => ({ names, shard })));

  it.each(cases)("takes no credits once shard $shard has tokens again, of $names", async (each) => {
    await using at = await setUp(20);
    at.race.meanwhile = () => at.fill(each.shard, 10);
    const result = await at.limiter.limitFirst(each.names, { key, count: 4 });
    expect(result).toMatchObject({ ok: true, paid: [{ name: "wide", count: 4 }] });
    expect(await at.leftOfAll()).toEqual([0, 6, 20]);
  });

  it.each(cases)("splits by what shard $shard has by then, of $names", async (each) => {
    await using at = await setUp(20);
    await at.fill(1 - each.shard, 6);
    at.race.meanwhile = () => at.fill(each.shard, 3);
    const options = { key, count: 12, split: true } as const;
    expect(await at.limiter.limitFirst(each.names, options)).toMatchObject({
      ok: true,
      paid: [
        { name: "wide", count: 9 },
        { name: "credits", count: 3 },
      ],
    });
    expect(await at.leftOfAll()).toEqual([0, 0, 17]);
  });

  it.each(lists.map((names) => ({ names })))(
    "takes from no shard what another call has taken, of $names",
    async ({ names }) => {
      for (const split of [false, true]) {
        await using at = await setUp(2);
        for (const shard of [0, 1]) await at.fill(shard, 10);
        at.race.meanwhile = () => at.peer.limit("wide", { key, count: 17 });
        const result = await at.limiter.limitFirst(names, { key, count: 12, split });
        expect(result.ok).toBe(false);
        expect(await at.leftOfAll()).toEqual([0, 3, 2]);
      }
    },
  );

  it.each(lists.map((names) => ({ names })))(
    "leaves what had too little as it was, of $names",
    async ({ names }) => {
      await using at = await setUp(20);
      await at.peer.refund("plan", { key, count: 3 });
      await at.fill(0, 1);
      await at.fill(1, 2);
      expect(await at.limiter.limitFirst(names, { key, count: 4 })).toMatchObject({
        paid: [{ name: "credits", count: 4 }],
      });
      expect(await at.leftOfAll()).toEqual([3, 3, 16]);
      // The fuller one of the two shards, which is still the same one.
      expect(await at.peer.limit("wide", { key, count: 2 })).toMatchObject({
        shards: [{ shard: 1, count: 2 }],
      });
    },
  );

  it("takes no credits once a balance that did not exist was paid", async () => {
    await using at = await setUp(20);
    const other = "bo";
    at.race.meanwhile = () => at.peer.credit("credits", { key: other, count: 5 });
    const items = [
      { name: "credits", key: other },
      { name: "credits", key },
    ] as const;
    expect(await at.limiter.limitFirst(items, { count: 4 })).toMatchObject({
      paid: [{ name: "credits", key: other, count: 4 }],
    });
    expect(await at.leftOfAll()).toEqual([0, 0, 20]);
  });
});
