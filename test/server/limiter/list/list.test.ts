/** `list` shows each bucket of a limit once, page by page. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  type LimitItem,
  type LimitPage,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";
import { keyOption } from "../../../../core/key-option.js";

const limits = {
  sharded: { kind: "token bucket", rate: 30, period: MINUTE, shards: 3 },
  window: { kind: "fixed window", rate: 5, period: HOUR },
} as const;

const sequence = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Writes the rows of these shards of each key. */
async function fill(
  { apply }: RateLimitStore,
  name: string,
  keys: readonly string[],
  shards: readonly number[],
  ts: number,
): Promise<void> {
  const rows = keys.flatMap((key) => shards.map((shard) => ({ name, key, shard })));
  await apply(
    rows.map((row, i) => ({
      rows: [row],
      decide: () => ({ result: undefined, writes: [{ used: i % 7, ts }] }),
    })),
  );
}

/** All pages, one after the other, with something to do in between. */
async function readAll(
  page: (after: string | undefined) => Promise<LimitPage>,
  between: () => Promise<unknown> = async () => {},
): Promise<LimitItem[]> {
  const items: LimitItem[] = [];
  let after: string | undefined;
  do {
    const read = await page(after);
    items.push(...read.items);
    after = read.next;
    await between();
  } while (after !== undefined);
  return items;
}

describe.each(storesAndRedis)("list on %s", (_name, open) => {
  it("pages through 1,000 rows, with one item per key that agrees with getValue", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits);
    const keys = sequence(333).map((i) => `user ${i}`);
    await fill(store, "sharded", keys, [0, 1, 2], clock() - 1000);
    await fill(store, "sharded", [""], [1], clock() - 1000);
    await fill(store, "sharder", keys, [0], clock());
    await fill(store, "sharde", keys, [0], clock());
    const sizes: number[] = [];
    const items = await readAll(async (after) => {
      const page = await limiter.list("sharded", { after, count: 70 });
      sizes.push(page.items.length);
      return page;
    });
    expect(sizes).toEqual([70, 70, 70, 70, 54]);
    const shown = items.map(({ key }) => key);
    expect(new Set(shown)).toEqual(new Set([undefined, ...keys]));
    expect(shown.length).toBe(334);
    const values = await Promise.all(
      shown.map((key) => limiter.getValue("sharded", keyOption(key))),
    );
    expect(items).toEqual(values.map((value, i) => ({ key: shown[i], ...value, now: clock() })));
    // A last page that is full is followed by no empty one.
    const { items: all, next } = await limiter.list("sharded", { count: 334 });
    expect([all.length, next]).toEqual([334, undefined]);
  });

  it("shows each key once that is there all the time, while others come and go", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits);
    const keys = sequence(200).map((i) => `k${i} `);
    await fill(store, "window", keys, [0], clock());
    const staying = keys.filter((_, i) => i % 10 > 0);
    let round = 0;
    const items = await readAll(
      (after) => limiter.list("window", { after, count: 30 }),
      async () => {
        const random = sequence(20).map((i) => `${["", "k1", "z"][i % 3]}${round}-${i}`);
        await fill(store, "window", random, [0], clock());
        await limiter.forget(keys[10 * round++]!);
      },
    );
    const shown = items.map(({ key }) => key);
    expect(new Set(shown).size).toBe(shown.length);
    for (const key of staying) expect(shown).toContain(key);
  });

  it("shows a bucket of a config of the call, and windows of the key", async () => {
    const { clock, limiter } = await twoProcesses(open, limits);
    const config = { kind: "fixed window", rate: 9, period: HOUR } as const;
    await limiter.limit("tier", { key: "ada", config, count: 4 });
    const value = await limiter.getValue("tier", { key: "ada", config });
    expect(value.value).toBe(5);
    expect(await limiter.list("tier", { config })).toEqual({
      items: [{ key: "ada", ...value, now: clock() }],
      next: undefined,
    });
    expect(await limiter.list("window")).toEqual({ items: [], next: undefined });
  });
});

describe("list", () => {
  const setUp = (options: object = {}) => {
    const store = memoryStore() as RateLimitStore;
    const clock = createManualClock();
    return { store, clock, limiter: createRateLimiter({ store, limits, clock, ...options }) };
  };

  it("passes the shards of a key that the limit no longer has", async () => {
    const { store, limiter, clock } = setUp();
    await fill(store, "window", ["a", "b", "c"], sequence(50), clock());
    const items = await readAll((after) => limiter.list("window", { after, count: 1 }));
    expect(items.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });

  it("reads buckets of 1,000 shards in several round trips", async () => {
    const { store, limiter, clock } = setUp();
    const config = { ...limits.sharded, rate: 1000, shards: 1000 };
    await fill(store, "wide", ["a", "b", "c", "d", "e"], sequence(1000), clock());
    const { items } = await limiter.list("wide", { config });
    const values = await Promise.all(
      items.map(({ key }) => limiter.getValue("wide", { ...keyOption(key), config })),
    );
    expect(items.map(({ value }) => value)).toEqual(values.map(({ value }) => value));
    expect(items.length).toBe(5);
  });

  it("shows the keys of the rows where there is a hashKey", async () => {
    const { limiter } = setUp({ hashKey: (key: string) => `h-${key}` });
    await limiter.limit("window", { key: "ada" });
    await limiter.limit("window");
    const { items } = await limiter.list("window");
    expect(items.map(({ key }) => key)).toEqual([undefined, "h-ada"]);
  });

  it("gives a `next` of printable ASCII, after any key", async () => {
    const { store, limiter, clock } = setUp();
    const keys = ["", "'\"<script>&", "ann@example.com", "日本", "😀", "%", "k".repeat(191)];
    await fill(store, "window", keys, [0], clock());
    const cursors: (string | undefined)[] = [];
    const items = await readAll(async (after) => {
      const page = await limiter.list("window", { after, count: 1 });
      cursors.push(page.next);
      return page;
    });
    expect(new Set(items.map(({ key = "" }) => key))).toEqual(new Set(keys));
    expect(cursors.pop()).toBe(undefined);
    for (const cursor of cursors) expect(cursor).toMatch(/^[\w.!~*'()%-]+$/);
  });

  it("needs a store that has list", async () => {
    const { apply } = memoryStore();
    const limiter = createRateLimiter({ store: { apply }, limits });
    await expect(limiter.list("window")).rejects.toMatchObject({
      name: "RateLimitConfigError",
      message: "this store does not support list(); use memoryStore(), prismaStore() or pgStore()",
    });
  });
});
