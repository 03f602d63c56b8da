/** Compares what each store prunes with what `core` calculates, on random rows and configs. */
import { describe, expect, it } from "vitest";
import { capacityOf, type PeriodicConfig } from "../../../../core/config.js";
import { isFullAt } from "../../../../core/rows/reading.js";
import { CLOSED } from "../../../../core/rows/bucket.js";
import type { Row } from "../../../../core/rows/row.js";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  MINUTE,
  type RateLimitStore,
  SECOND,
} from "../../../../server/index.js";
import { pruneByList } from "../../../../server/store/prune-by-list.js";
import { type PruneTerms, type RowId, rowKey } from "../../../../server/store/store.js";
import { createPostgres } from "../../../support/database.js";
import { connectPool, openStore } from "../../../support/open-store.js";
import { stores } from "../../../support/stores.js";
import { neighbour, xorshift } from "./differential.js";

const ROUNDS = Number(process.env["DIFFERENTIAL_CASES"] ?? 8000) / 1000;
const timeout = 30_000 + 10_000 * ROUNDS;

function randomConfig(random: () => number): PeriodicConfig {
  const pick = <T>(...items: T[]) => items[Math.floor(random() * items.length)]!;
  const rate = pick(1 + Math.floor(random() * 10), 1 / 3, random() * 100, random() / 1e6, 1e6);
  const period = pick(1, 7, 60_000, 1 + Math.floor(random() * 1e9));
  const capacity = pick(rate, 1 + Math.floor(random() * 10), random() * 50, 0);
  const kind = pick("token bucket" as const, "fixed window" as const);
  return { kind, rate, period, capacity };
}

/** A row that is often within one bit of being full at `before`. */
function randomState(
  random: () => number,
  { rate, period, ...config }: PeriodicConfig,
  before: number,
): Row {
  const pick = <T>(...items: T[]) => items[Math.floor(random() * items.length)]!;
  const capacity = capacityOf({ rate, period, ...config });
  const age = pick(0, random() * period, Math.floor(random() * 9) * period, -random() * 1e6);
  const refill = (Math.max(0, age) / period) * rate;
  // From the capacity on, a larger config has used it.
  const threshold = pick(refill, Math.floor(refill), Math.floor(age / period) * rate);
  const used = pick(
    threshold,
    neighbour(threshold, 1),
    neighbour(threshold, -1),
    random() * capacity,
    random() * 1e6,
    // Debts.
    capacity - threshold,
    neighbour(capacity - threshold, 1),
    neighbour(capacity - threshold, -1),
    -random() * 1e6,
    CLOSED,
  );
  const ts = pick(before - age, Math.floor(before - age));
  // Zero has no neighbour on its other side.
  return { used: Number.isNaN(used) ? 0 : used, ts };
}

/** Whether SQL may keep a row although it is full: a window that was closed, for one more window. */
function mayBeLate({ used, ts }: Row, configs: readonly PeriodicConfig[], before: number): boolean {
  const wasClosed = (config: PeriodicConfig) =>
    config.kind === "fixed window" && !isFullAt({ used, ts }, config, before - config.period);
  return used === CLOSED && configs.some(wasClosed);
}

function randomRows(random: () => number, configs: readonly PeriodicConfig[], before: number) {
  return Array.from({ length: 1100 }, (_, i) => {
    const config = configs[i % configs.length]!;
    const row: RowId = { name: "n", key: i === 0 ? "" : `k${i >> 1} `, shard: i % 2 };
    return { row, state: randomState(random, config, before) };
  });
}

const write = ({ row, state }: { row: RowId; state: Row | null }) => ({
  rows: [row],
  decide: () => ({ result: undefined, writes: [state] }),
});

async function listAll(store: RateLimitStore, name: string): Promise<RowId[]> {
  const rows: RowId[] = [];
  for (let last: RowId | undefined; ; last = rows.at(-1)) {
    const page = await store.list!(name, last, 700);
    rows.push(...page);
    if (page.length < 700) return rows;
  }
}

async function total(pages: AsyncIterable<number>): Promise<number> {
  let sum = 0;
  for await (const page of pages) sum += page;
  return sum;
}

const prunes: [
  how: string,
  prune: (store: RateLimitStore, terms: PruneTerms) => Promise<number>,
][] = [
  ["by itself", (store, terms) => total(store.prune!(terms))],
  ["by list", (store, terms) => total(pruneByList(store as never, terms))],
];

describe.each(stores)("prune on %s", (name, open) => {
  it.each(prunes)(
    "deletes exactly the rows that core calculates as full (%s)",
    { timeout },
    async (_how, prune) => {
      await using opened = await open();
      const { store } = opened;
      const random = xorshift(name.length);
      for (let round = 0; round < ROUNDS; round++) {
        const configs = Array.from({ length: 1 + (round % 3) }, () => randomConfig(random));
        const before = Date.UTC(2030, 0, 1) + Math.floor(random() * 1e10);
        const rows = randomRows(random, configs, before);
        await store.apply(rows.map(write));
        const isKept = ({ state }: (typeof rows)[number]) =>
          !configs.every((config) => isFullAt(state, config, before));
        const deleted = await prune(store, { configs: new Map([["n", configs]]), before });
        const left = new Set((await listAll(store, "n")).map(rowKey));
        const isLeft = ({ row }: (typeof rows)[number]) => left.has(rowKey(row));
        const wrong = rows.filter(
          (each) =>
            isLeft(each) !== isKept(each) &&
            !(isLeft(each) && mayBeLate(each.state, configs, before)),
        );
        expect(wrong).toEqual([]);
        expect(deleted).toBe(rows.length - left.size);
        await store.apply(rows.map(({ row }) => write({ row, state: null })));
      }
    },
  );

  it("keeps the rows of other limits, and handles numbers that SQL cannot calculate with", async () => {
    await using opened = await open();
    const { store } = opened;
    const huge = { kind: "token bucket", rate: 1e300, period: 1 } as const;
    const full = { used: 1, ts: 0 };
    const rows: [name: string, key: string, state: Row][] = [
      ["a", "full", full],
      ["a", "huge", { used: -1.7e308, ts: 0 }],
      ["a", "ancient", { used: 1, ts: -1.7e308 }],
      ["other", "full", full],
      ["huge", "full", { used: 0, ts: 0 }],
      ["huge", "empty", { used: 1e300, ts: 1e12 }],
    ];
    await store.apply(
      rows.map(([row, key, state]) => write({ row: { name: row, key, shard: 0 }, state })),
    );
    const configs = new Map<string, PeriodicConfig[]>([
      ["a", [{ kind: "token bucket", rate: 1, period: MINUTE }]],
      ["huge", [huge]],
    ]);
    await total(store.prune!({ configs, before: 1e12 }));
    const left = async (of: string) => (await listAll(store, of)).map(({ key }) => key);
    expect(await left("a")).not.toContain("full");
    expect(await left("a")).toContain("huge");
    expect(await left("other")).toEqual(["full"]);
    expect(await left("huge")).toEqual(["empty"]);
  });

  it("never gives tokens back to rows that are in use meanwhile", async () => {
    await using opened = await open();
    const clock = createManualClock();
    const limits = { few: { kind: "token bucket", rate: 50, period: SECOND } } as const;
    const [one, two] = [opened.store, opened.peer].map((store) =>
      createRateLimiter({ store, limits, clock, timeout: 10_000 }),
    );
    const keys = Array.from({ length: 40 }, (_, i) => `k${i}`);
    for (const key of keys) await one!.limit("few", { key, count: 50 });
    clock.advance(5 * MINUTE);
    // Every row is full now, and is taken from again while it is pruned.
    let granted = 0;
    const take = async (key: string) => {
      for (let i = 0; i < 8; i++) {
        if ((await one!.limit("few", { key, count: 10 })).ok) granted += 10;
      }
    };
    const taking = Promise.all(keys.map(take));
    let isDone = false;
    const done = taking.then(() => (isDone = true));
    while (!isDone) await two!.prune();
    await done;
    expect(granted).toBe(keys.length * 50);
  });
});

describe("prune on PostgreSQL", () => {
  it("passes over a row that a transaction holds, without waiting for it", async () => {
    await using database = await createPostgres();
    const { store, close } = openStore("pg", database.url);
    const pool = connectPool(database.url);
    const clock = createManualClock();
    const limits = { once: { kind: "token bucket", rate: 1, period: SECOND } } as const;
    const limiter = createRateLimiter({ store, limits, clock });
    for (const key of ["a", "b", "c"]) await limiter.limit("once", { key });
    clock.advance(2 * MINUTE);
    const holder = await pool.connect();
    await holder.query(`BEGIN`);
    await holder.query(`SELECT 1 FROM "RateLimit" WHERE key = 'b' FOR UPDATE`);
    expect(await limiter.prune()).toBe(2);
    await holder.query(`COMMIT`);
    holder.release();
    expect(await limiter.prune()).toBe(1);
    await Promise.all([close(), pool.end()]);
  });
});
