/** `forget` deletes all rows of a key in the table, and nothing else. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  changeDigest,
  createRateLimiter,
  DAY,
  memoryStore,
  MINUTE,
  prismaStore,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { createPostgres } from "../../../support/database.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  bucket: { kind: "token bucket", rate: 3, period: DAY },
  window: { kind: "fixed window", rate: 3, period: DAY },
  // More rows than one page of the deletion.
  sharded: { kind: "token bucket", rate: 2500, period: DAY, shards: 250 },
} as const;

/** Keys that a careless comparison takes for "ada". */
const OTHERS = ["Ada", "ada ", " ada", "adam", "ad", "àda", "ada\u001F"];

async function rowsIn(store: RateLimitStore): Promise<string[]> {
  const rows: string[] = [];
  for await (const name of store.names!()) {
    for (const { key, shard } of await store.list!(name, undefined, 9999)) {
      rows.push(`${name}/${key}/${shard}`);
    }
  }
  return rows.toSorted();
}

describe.each(storesAndRedis)("forget on %s", (_name, open) => {
  it("deletes the rows of a key under all names, in all shards, and no others", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits);
    const elsewhere = createRateLimiter({ store, limits: { api: limits.bucket }, clock });
    const takeFromAll = async (options: { key?: string }) => {
      await limiter.limit("bucket", options);
      await limiter.limit("window", options);
      await limiter.limit("tier ", { ...options, config: limits.window });
      await elsewhere.limit("api", options);
    };
    await Promise.all([{}, ...OTHERS.map((key) => ({ key }))].map(takeFromAll));
    const others = await rowsIn(store);
    expect(others.length).toBe(4 * (1 + OTHERS.length));
    await takeFromAll({ key: "ada" });
    const state = { used: 1, ts: clock() };
    await store.apply(
      Array.from({ length: 250 }, (_, shard) => ({
        rows: [{ name: "sharded", key: "ada", shard }],
        decide: () => ({ result: undefined, writes: [state] }),
      })),
    );
    expect((await rowsIn(store)).length).toBe(others.length + 4 + 250);
    expect(await limiter.forget("ada")).toBe(4 + 250);
    expect(await rowsIn(store)).toEqual(others);
    expect(await limiter.forget("ada")).toBe(0);
    expect(await limiter.getValue("bucket", { key: "ada" })).toMatchObject({ value: 3 });
  });

  it("deletes the ids of a key, whatever they begin with, between those of other keys", async () => {
    const { limiter, store } = await twoProcesses(open, limits);
    const ids = ["\n1", "\t1", "\u00011", " 1", "1", "%", "_", "!", "\\", "|", "é", "😀"];
    for (let i = 0; i < 150; i++) ids.push(`id ${i}`);
    const give = (key: string) =>
      Promise.all(ids.map((once) => limiter.limit("bucket", { key, once, count: 0.001 })));
    for (const key of ["Ann", "ànn", "an_", "an%", "ann|", "ann\\"]) await give(key);
    const others = await rowsIn(store);
    await give("ann");
    expect(await limiter.forget("ann")).toBe(1 + ids.length);
    expect(await rowsIn(store)).toEqual(others);
  });

  it("counts each row once where two processes forget the same key", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const [one, two] = [opened.store, opened.peer].map((store) =>
      createRateLimiter({ store, limits, clock, timeout: 10_000 }),
    );
    const names = Array.from({ length: 30 }, (_, i) => `limit ${i}`);
    const config = limits.bucket;
    await Promise.all(names.map((name) => one!.limit(name, { key: "ada", config })));
    const counts = await Promise.all([one!.forget("ada"), two!.forget("ada")]);
    expect(counts[0]! + counts[1]!).toBe(30);
    expect(await rowsIn(opened.store)).toEqual([]);
  });

  it("lets 64 concurrent callers take no more than a fresh bucket per row deleted", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const some = {
      single: { kind: "token bucket", rate: 40, period: DAY },
      sharded: { kind: "token bucket", rate: 40, period: DAY, shards: 4 },
    } as const;
    const [one, two] = [opened.store, opened.peer].map((store) =>
      createRateLimiter({ store, limits: some, clock, timeout: 20_000 }),
    );
    for (const name of ["single", "sharded"] as const) {
      const capacityOfRow = some[name].rate / (name === "sharded" ? 4 : 1);
      let isDone = false;
      let granted = 0;
      let deleted = 0;
      const call = async (i: number) => {
        const limiter = i % 2 ? one! : two!;
        // Redis looks through all of its keys, which can take longer than these calls.
        for (let n = 0; n < 12 || deleted === 0; n++) {
          if ((await limiter.limit(name, { key: "ada" })).ok) granted++;
          if (n >= 12) await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const calls = Promise.all(Array.from({ length: 64 }, (_, i) => call(i)));
      const done = calls.then(() => (isDone = true));
      while (!isDone) {
        deleted += await one!.forget("ada");
        // Without rows and with a synchronous driver, the loop would let no timer run.
        await new Promise((resolve) => setImmediate(resolve));
      }
      await done;
      expect(deleted).toBeGreaterThan(0);
      expect(granted).toBeGreaterThanOrEqual(40);
      expect(granted).toBeLessThanOrEqual(40 + deleted * capacityOfRow);
      await one!.forget("ada");
    }
    expect(await rowsIn(opened.store)).toEqual([]);
  });
});

describe("forget on PostgreSQL without the collation C", () => {
  it.each(["en-x-icu", "und-x-icu"])("deletes all ids of a key under %s", async (collation) => {
    await using database = await createPostgres();
    await database.prisma.$executeRawUnsafe(
      `ALTER TABLE "RateLimit" ALTER COLUMN "name" TYPE text COLLATE "${collation}",
         ALTER COLUMN "key" TYPE text COLLATE "${collation}"`,
    );
    const store = prismaStore(database.prisma) as RateLimitStore;
    const limiter = createRateLimiter({ store, limits, clock: createManualClock() });
    for (const key of ["ann", "Ann"]) {
      const calls = Array.from({ length: 150 }, (_, i) =>
        limiter.limit("bucket", { key, once: `${i}`, count: 0.001 }),
      );
      await Promise.all(calls);
    }
    expect(await limiter.forget("ann")).toBe(151);
    expect(await limiter.forget("Ann")).toBe(151);
    expect(await rowsIn(store)).toEqual([]);
  });
});

describe("forget", () => {
  const token = { kind: "token bucket", rate: 1, period: SECOND } as const;

  it("never deletes the shared bucket for want of a key", async () => {
    const store = memoryStore() as RateLimitStore;
    const limiter = createRateLimiter({ store, limits: { token } });
    await limiter.limit("token");
    for (const [key, problem] of [
      [undefined, "forget() needs a key, got undefined; to fill the bucket that all callers share"],
      ["", "key must not be empty"],
      [null, "key must be a string, got null"],
    ]) {
      const error = { name: "RateLimitInputError", reason: "key" };
      const call = limiter.forget(key as string);
      await expect(call).rejects.toMatchObject(error);
      await expect(call).rejects.toThrow(problem as string);
    }
    expect(await rowsIn(store)).toEqual(["token//0"]);
  });

  it("takes the caller's key where the rows have its hash", async () => {
    const store = memoryStore() as RateLimitStore;
    const hashKey = (key: string) => `h-${key}`;
    const limiter = createRateLimiter({ store, limits: { token }, hashKey });
    await limiter.limit("token", { key: "ada" });
    expect(await limiter.forget("h-ada")).toBe(0);
    expect(await limiter.forget("ada")).toBe(1);
  });

  it("notifies of the limits whose rows it has deleted", async () => {
    const limiter = createRateLimiter({
      store: memoryStore(),
      limits: { token, other: token },
      hashKey: (key) => `h-${key}`,
    });
    await limiter.limit("token", { key: "ada" });
    const changed: string[] = [];
    limiter.onChange((digest) => void changed.push(digest));
    await limiter.forget("bob");
    expect(changed).toEqual([]);
    await limiter.forget("ada");
    expect(changed).toEqual([changeDigest("token", "ada")]);
  });

  it.each(["names", "list"] as const)("needs a store that has %s", async (method) => {
    const store = { ...memoryStore(), [method]: undefined } as RateLimitStore;
    const limiter = createRateLimiter({ store, limits: { token } });
    await expect(limiter.forget("ada")).rejects.toMatchObject({
      name: "RateLimitConfigError",
      message:
        "this store does not support forget(); use memoryStore(), prismaStore() or pgStore()",
    });
  });

  const never = new Promise<never>(() => {});

  it.each<[string, Partial<RateLimitStore>]>([
    ["names", { names: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }) }],
    ["list", { list: () => never }],
  ])("gives up on a store that does not answer %s", async (_method, silent) => {
    const memory = memoryStore() as RateLimitStore;
    const store = { ...memory, ...silent };
    const limiter = createRateLimiter({ store, limits: { token }, timeout: 20, logger: false });
    await limiter.limit("token", { key: "ada" });
    await expect(limiter.forget("ada")).rejects.toMatchObject({
      name: "RateLimitStoreError",
      message: "the rate limit store did not answer within 20 ms",
    });
  });

  it("bounds each round trip by the timeout, and not all of them together", async () => {
    const memory = memoryStore() as RateLimitStore;
    const store: RateLimitStore = {
      ...memory,
      async list(...page) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return memory.list!(...page);
      },
    };
    const limiter = createRateLimiter({ store, limits: {}, timeout: 200 });
    const names = Array.from({ length: 15 }, (_, i) => `limit ${i}`);
    for (const name of names) {
      await limiter.limit(name, { key: "ada", config: { ...token, period: MINUTE } });
    }
    expect(await limiter.forget("ada")).toBe(15);
  });
});
