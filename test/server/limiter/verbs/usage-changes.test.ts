/** The spans of usage that nothing is added to any more: each of them is told once, with its totals. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import type { Usage } from "../../../../core/usage.js";
import {
  createRateLimiter,
  DAY,
  HOUR,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
  type RateLimitStore,
} from "../../../../server/index.js";
import { cases } from "../../../support/cases.js";
import { createRandom } from "../../../support/seeded-random.js";
import {
  type OpenOptions,
  type OpenStore,
  stores,
  storesAndRedis,
} from "../../../support/stores.js";

const START = Date.UTC(2030, 0, 1);
const usage = { every: HOUR, keep: 10 * DAY, changes: true } as const;
const limits = {
  tokens: { kind: "token bucket", rate: 1e6, period: HOUR, holds: true, usage },
  credits: { kind: "credits", usage },
  minutes: { kind: "fixed window", rate: 1e6, period: DAY, usage: { ...usage, every: MINUTE } },
  apart: { kind: "token bucket", rate: 1e6, period: HOUR, usage: true },
} as const;
const none: Usage = { granted: 0, denied: 0, taken: 0, givenBack: 0 };

function openOn(store: RateLimitStore, clock = createManualClock(START)) {
  const limiter = createRateLimiter({ store, limits, clock, logger: false, sleep: clock.sleep });
  return { clock, limiter };
}

/** And a limiter that only reads, as in another process. */
async function openBoth(open: (options: OpenOptions) => Promise<OpenStore>) {
  const { store, peer, ...opened } = await open({ isNew: true });
  onTestFinished(() => opened[Symbol.asyncDispose]());
  const { clock, limiter } = openOn(store);
  return { clock, limiter, store, reader: openOn(peer, clock).limiter };
}

type Limiter = ReturnType<typeof openOn>["limiter"];
type Change = Awaited<ReturnType<Limiter["usageChanges"]>>["items"][number];

/** All that is told from a cursor on, and the cursor after it. */
async function drain(limiter: Limiter, since?: string | number, limit = 100) {
  const items: Change[] = [];
  let next = since;
  for (;;) {
    const page = await limiter.usageChanges({ ...(next !== undefined && { since: next }), limit });
    items.push(...page.items);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    next = page.next;
    if (!page.hasMore) return { items, next: page.next };
  }
}

describe.each(storesAndRedis)("changes of usage on %s", (_name, open) => {
  it("are told once a span has been over for two minutes, and once", async () => {
    const { clock, limiter, reader } = await openBoth(open);
    await limiter.limit("tokens", { key: "ann", count: 7 });
    await limiter.limit("tokens", { key: "ann" });
    await limiter.limit("apart", { key: "ann" });
    await limiter.limit("tokens");
    await limiter.flushUsage();
    clock.set(START + HOUR + 2 * MINUTE - 1);
    expect((await drain(reader)).items).toEqual([]);
    clock.advance(1);
    const { items, next } = await drain(reader);
    const span = { start: START, end: START + HOUR };
    expect(items).toEqual([
      {
        id: `tokens|ann|${START}`,
        name: "tokens",
        key: "ann",
        ...span,
        ...none,
        granted: 2,
        taken: 8,
      },
    ]);
    expect((await drain(reader, next)).items).toEqual([]);
    // Sent again from an older cursor, the id is the same.
    expect((await drain(reader)).items).toEqual(items);
  });

  it("are told of charges, credits and holds, too, in pages of any size", async () => {
    const { clock, limiter, reader: peer } = await openBoth(open);
    const hold = { for: HOUR, then: "keep" } as const;
    const keys = ["ann", "a|b", "a", "b|a\\", "|"];
    for (const [i, key] of keys.entries()) {
      await limiter.credit("credits", { key, count: 100 });
      await (i % 2 === 0 ? peer : limiter).limit("credits", { key, count: 3 + i });
      await limiter.limit("tokens", { key, count: 10, once: "a", hold });
      await peer.settle("tokens", { key, once: "a" }, 4 + i);
      await peer.charge("minutes", { key, count: 1 });
      clock.advance(MINUTE);
      await peer.charge("minutes", { key, count: 2 });
    }
    clock.set(START + 2 * HOUR);
    const all = (await drain(limiter)).items;
    expect(all).toHaveLength(4 * keys.length);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [i, key] of keys.entries()) {
      const of = (name: string) => all.filter((each) => each.key === key && each.name === name);
      expect(of("credits")).toMatchObject([{ granted: 1, taken: 3 + i, givenBack: 0 }]);
      expect(of("tokens")).toMatchObject([{ granted: 1, taken: 10, givenBack: 6 - i }]);
      expect(of("minutes").map(({ taken }) => taken)).toEqual([1, 2]);
    }
    for (const size of [1, 2, 7]) expect((await drain(peer, undefined, size)).items).toEqual(all);
  });

  it("begin at an instant, and go on where a cursor was kept", async () => {
    const { clock, limiter } = await openBoth(open);
    const use = async (hour: number) => {
      clock.set(START + hour * HOUR);
      await limiter.charge("tokens", { key: "ann", count: hour + 1 });
    };
    await use(0);
    await use(1);
    clock.set(START + 3 * HOUR);
    const from = await drain(limiter, START + HOUR);
    expect(from.items.map(({ taken }) => taken)).toEqual([2]);
    const within = await drain(limiter, START + 1);
    expect(within.items.map(({ taken }) => taken)).toEqual([2]);
    await use(3);
    await use(4);
    clock.set(START + 6 * HOUR);
    expect((await drain(limiter, from.next)).items.map(({ taken }) => taken)).toEqual([4, 5]);
  });

  it("are forgotten with their key", async () => {
    const { clock, limiter, store } = await openBoth(open);
    await limiter.charge("tokens", { key: "ann" });
    await limiter.charge("tokens", { key: "ann|b" });
    await limiter.forget("ann");
    clock.set(START + 2 * HOUR);
    const { items } = await drain(limiter);
    expect(items.map(({ key }) => key)).toEqual(["ann|b"]);
    const names: string[] = [];
    for await (const name of store.names!()) {
      const rows = await store.list!(name, undefined, 100);
      names.push(...rows.map(({ key }) => key).filter((key) => /ann(?!\\?\|b)/.test(key)));
    }
    expect(names).toEqual([]);
  });
});

describe.each(stores)("changes of usage on %s", (_name, open) => {
  it("have what a transaction commits after the end of its span", async () => {
    const { clock, limiter, reader } = await openBoth(open);
    await limiter.credit("credits", { key: "ann", count: 100 });
    clock.set(START + HOUR - 1);
    let next: string | undefined;
    await limiter.transaction(async (tx) => {
      await tx.limit("credits", { key: "ann", count: 5 });
      clock.set(START + HOUR + MINUTE);
      const page = await drain(reader);
      expect(page.items).toEqual([]);
      next = page.next;
    });
    clock.set(START + HOUR + 2 * MINUTE);
    const { items } = await drain(reader, next);
    expect(items).toMatchObject([{ key: "ann", start: START, taken: 5 }]);
  });

  it("wait longer for longer transactions", async () => {
    const { clock, limiter } = await openBoth(open);
    await limiter.charge("tokens", { key: "ann" });
    clock.set(START + HOUR + 9 * MINUTE);
    expect((await limiter.usageChanges({ delay: 10 * MINUTE })).items).toEqual([]);
    expect((await limiter.usageChanges()).items).toHaveLength(1);
  });

  it("are pruned with the usage that they are about", async () => {
    const { clock, limiter, store } = await openBoth(open);
    await limiter.charge("tokens", { key: "ann" });
    const listed = () => store.list!("trpc-rate-limit:span:tokens", undefined, 10);
    clock.set(START + HOUR + usage.keep + MINUTE - 1);
    await limiter.prune();
    expect(await listed()).toHaveLength(1);
    clock.advance(1);
    await limiter.prune();
    expect(await listed()).toEqual([]);
  });
});

it("count in the span in which they come where they come late, so that no told span changes", async () => {
  const memory = memoryStore() as RateLimitStore;
  let isDown = false;
  const store: RateLimitStore = {
    ...memory,
    apply: (...args) =>
      isDown ? Promise.reject(new RateLimitStoreError("down")) : memory.apply(...args),
  };
  delete store.submit;
  const { clock, limiter } = openOn(store);
  const reader = openOn(memory, clock).limiter;
  for (const count of [1, 5]) await limiter.limit("tokens", { key: "ann", count });
  await limiter.limit("apart", { key: "ann", count: 5 });
  isDown = true;
  await expect(limiter.flushUsage()).rejects.toThrow("down");
  isDown = false;
  // In time for its own span.
  clock.set(START + HOUR + MINUTE - 1);
  await limiter.limit("tokens", { key: "bob", count: 3 });
  isDown = true;
  await expect(limiter.flushUsage()).rejects.toThrow("down");
  clock.set(START + HOUR + 2 * MINUTE);
  isDown = false;
  const first = await drain(reader);
  expect(first.items).toEqual([]);
  await limiter.flushUsage();
  expect((await drain(reader)).items).toEqual([]);
  clock.set(START + 3 * HOUR);
  const { items } = await drain(reader, first.next);
  expect(items).toMatchObject([
    { key: "ann", start: START + HOUR, granted: 2, taken: 6 },
    { key: "bob", start: START + HOUR, granted: 1, taken: 3 },
  ]);
  // Other limits keep the span in which they were used.
  const hours = { from: START, to: START + 2 * HOUR };
  const { items: apart } = await reader.usage("apart", { key: "ann", ...hours });
  expect(apart.map(({ taken }) => taken)).toEqual([5, 0]);
});

it("are found by the length that their span had", async () => {
  const store = memoryStore() as RateLimitStore;
  const { clock, limiter } = openOn(store);
  await limiter.charge("tokens", { key: "ann", count: 2 });
  const terms = { ...usage, every: 4 * HOUR };
  const longer = createRateLimiter({
    store,
    clock,
    limits: { tokens: { ...limits.tokens, usage: terms } },
  });
  clock.set(START + HOUR);
  await longer.charge("tokens", { key: "bob", count: 3 });
  clock.set(START + 3 * HOUR);
  const { items, next } = await longer.usageChanges();
  expect(items).toMatchObject([{ key: "ann", end: START + HOUR, taken: 2 }]);
  clock.set(START + 5 * HOUR);
  const later = await longer.usageChanges({ since: next });
  // Spans that begin at one instant and were of two lengths may be told twice, with the same id.
  expect(later.items).toMatchObject([items[0], { key: "bob", end: START + 4 * HOUR, taken: 3 }]);
});

it("have the key as it is stored", async () => {
  const clock = createManualClock(START);
  const hashKey = (key: string) => `hash of ${key}`;
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock, hashKey });
  await limiter.charge("tokens", { key: "ann" });
  clock.set(START + 2 * HOUR);
  expect((await limiter.usageChanges()).items).toMatchObject([{ key: "hash of ann" }]);
});

describe("options", () => {
  const old = JSON.stringify({ tokens: [START - 11 * DAY, ""] });
  it.each([
    [{ since: "yesterday" }, /since must be a cursor that usageChanges\(\) gave/],
    [{ since: '{"tokens":[1]}' }, /since must be a cursor/],
    [{ since: NaN }, /since must be/],
    [{ since: old }, /since is older than usage.keep of "tokens", 864000000 ms/],
    [{ since: START - 11 * DAY }, /since is older than usage.keep/],
    [{ limit: 0 }, /limit must be a whole number from 1 to 1000, got 0/],
    [{ limit: 1001 }, /limit must be/],
    [{ delay: MINUTE }, /delay must be .* at least 120000/],
    [{ until: 1 }, /until is not an option of usageChanges\(\)/],
  ])("refuse %j", async (options, message) => {
    const { limiter } = openOn(memoryStore());
    await expect(limiter.usageChanges(options as never)).rejects.toThrow(message);
  });

  it("refuse a limiter none of whose limits tells its changes", async () => {
    const { apart } = limits;
    const limiter = createRateLimiter({ store: memoryStore(), limits: { apart } });
    await expect((limiter as unknown as Limiter).usageChanges()).rejects.toThrow(
      /set usage: \{ changes: true \} of a limit/,
    );
  });

  it("keep the place of a limit that is away for a while", async () => {
    const store = memoryStore() as RateLimitStore;
    const { clock, limiter } = openOn(store);
    await limiter.charge("tokens", { key: "ann" });
    clock.set(START + 2 * HOUR);
    const { next } = await drain(limiter);
    const { credits } = limits;
    const without = createRateLimiter({ store, clock, limits: { credits } });
    const page = await without.usageChanges({ since: next });
    expect(page.items).toEqual([]);
    expect((await drain(limiter, page.next)).items).toEqual([]);
  });
});

it(
  "are told exactly once, whatever is used, flushed and told in which order",
  { timeout: 60_000 },
  async () => {
    for (let seed = 0; seed < cases(300); seed++) {
      const random = createRandom(seed);
      const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
      const store = memoryStore() as RateLimitStore;
      const clock = createManualClock(START);
      const processes = [openOn(store, clock).limiter, openOn(store, clock).limiter];
      const told = new Map<string, Change>();
      const expected = new Map<string, number>();
      let next: string | undefined;
      const tell = async (size: number) => {
        const page = await pick(processes).usageChanges({
          ...(next !== undefined && { since: next }),
          limit: size,
        });
        for (const item of page.items) {
          expect(told.has(item.id), `${item.id} of seed ${seed}`).toBe(false);
          told.set(item.id, item);
        }
        // The export may die before it has kept the cursor.
        if (random() < 0.8) next = page.next;
        else for (const { id } of page.items) told.delete(id);
      };
      for (let step = 0; step < 60; step++) {
        const limiter = pick(processes);
        const [name, key] = [pick(["tokens", "minutes"] as const), pick(["a", "b", "c|d"])];
        const count = 1 + Math.floor(random() * 5);
        const kind = random();
        if (kind < 0.5) {
          const isExact = random() < 0.5;
          if (isExact) await limiter.charge(name, { key, count });
          else await limiter.limit(name, { key, count });
          expected.set(`${name} ${key}`, (expected.get(`${name} ${key}`) ?? 0) + count);
        } else if (kind < 0.7) {
          clock.advance(pick([MINUTE / 2, MINUTE, 20 * MINUTE, HOUR]));
          // A process writes its sums every few seconds.
          for (const each of processes) if (random() < 0.9) await each.flushUsage();
        } else await tell(pick([1, 3, 100]));
      }
      for (const each of processes) await each.flushUsage();
      clock.advance(5 * HOUR);
      for (const item of (await drain(processes[0]!, next)).items) {
        expect(told.has(item.id)).toBe(false);
        told.set(item.id, item);
      }
      for (const [id, taken] of expected) {
        const items = [...told.values()].filter(({ name, key }) => `${name} ${key}` === id);
        const sum = items.reduce((total, item) => total + item.taken, 0);
        expect(sum, `${id} of seed ${seed}`).toBe(taken);
      }
    }
  },
);
