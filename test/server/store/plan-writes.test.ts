/** A decision whose numbers are no longer finite fails alone, on every store. */
import { expect, it } from "vitest";
import { scaled } from "../../../server/store/sql/sqlite/text.js";
import { storesAndRedis } from "../../support/stores.js";

const wrong = [
  ["a `used` of Infinity", { used: Infinity, ts: 1 }],
  ["a `used` of NaN", { used: NaN, ts: 1 }],
  ["a ts of -Infinity", { used: 1, ts: -Infinity }],
] as const;

it.each(storesAndRedis)(
  "writes the calls beside one whose row cannot be held, on %s",
  async (_, open) => {
    await using opened = await open();
    const write = (key: string, next: { used: number; ts: number }) => ({
      rows: [{ name: "limit", key, shard: 0 }],
      decide: () => ({ result: key, writes: [next] }),
    });
    const { store } = opened;
    const calls = [
      ...wrong.map(([, next]) => store.apply([write("wrong", next)])),
      store.apply([write("right", { used: 1.5, ts: 1 })]),
    ];
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual([
      ...wrong.map(() => "rejected"),
      "fulfilled",
    ]);
    expect(String((settled[0] as PromiseRejectedResult).reason)).toMatch(
      /numbers of rate limit "limit" are too large: a row cannot hold Infinity; use a smaller rate/,
    );
    expect((await store.list!("limit", undefined, 9)).map(({ key }) => key)).toEqual(["right"]);
  },
);

it.each([NaN, Infinity, -Infinity])("formats no %s", (number) => {
  expect(() => scaled(number)).toThrow(`a row cannot hold ${number}`);
});

it.each([0, -0, 1.5, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 63])(
  "formats %s",
  (number) => {
    const [whole, scale] = scaled(number)!;
    expect(Math.abs(whole)).toBeLessThan(2 ** 63);
    // In steps, because 64^179 is more than a double holds.
    let back = whole;
    for (let i = 0; i < Math.abs(scale); i++) back = scale > 0 ? back / 64 : back * 64;
    expect(back).toBe(number);
  },
);
