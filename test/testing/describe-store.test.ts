/** The contract of stores finds stores with faults, and runs in a test runner without a context. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { describeStore } from "../../testing/index.js";
import { memoryStore, type RateLimitStore } from "../../server/index.js";
import * as broken from "../histories/broken-stores.js";

interface Report {
  /** The titles of the tests that failed. */
  failed: string[];
  /** How many tests ran. */
  count: number;
}

/** Runs the contract in a runner that passes no context to its tests, as Jest. */
async function check(
  open: () => { store: RateLimitStore; peer?: RateLimitStore },
): Promise<Report> {
  const tests: { title: string; run: () => Promise<void> }[] = [];
  const hooks: Record<"before" | "after", (() => Promise<void>)[]> = { before: [], after: [] };
  const suites: string[] = [];
  let closed = 0;
  const runner = {
    describe(title: string, define: () => void) {
      suites.push(title);
      define();
    },
    it: (title: string, run: () => Promise<void>) => void tests.push({ title, run }),
    beforeEach: (run: () => Promise<void>) => void hooks.before.push(run),
    afterEach: (run: () => Promise<void>) => void hooks.after.push(run),
    expect,
  };
  describeStore(runner, "this one", async () => ({ ...open(), close: async () => void closed++ }));
  expect(suites).toEqual(["this one as a store"]);
  const failed: string[] = [];
  for (const { title, run } of tests) {
    // Jest takes a function with a parameter for one that calls `done`.
    expect(run.length).toBe(0);
    for (const hook of hooks.before) await hook();
    await run().catch(() => failed.push(title));
    for (const hook of hooks.after) await hook();
  }
  expect(closed).toBe(tests.length);
  return { failed, count: tests.length };
}

const EXACT = "grants exactly 37 of 200 simultaneous decisions on a new row of 37 tokens";

describe("the contract of stores", () => {
  it("passes for the memory store, and prints why it skips a test", async () => {
    const info = vi.spyOn(console, "info").mockImplementation(() => {});
    onTestFinished(() => info.mockRestore());
    const { failed, count } = await check(() => ({ store: memoryStore() as RateLimitStore }));
    expect(failed).toEqual([]);
    expect(count).toBeGreaterThan(20);
    expect(info.mock.calls).toEqual(
      Array.from({ length: 3 }, () => ["skipped: this store has no peer: `open` returned none"]),
    );
  });

  it("passes for two memory stores on the same rows", async () => {
    const { failed } = await check(() => {
      const store = memoryStore() as RateLimitStore;
      return { store, peer: store };
    });
    expect(failed).toEqual([]);
  });

  /** A memory store with one fault. */
  const faulty = (fault: (store: RateLimitStore) => Partial<RateLimitStore>) => () => {
    const store = memoryStore() as RateLimitStore;
    return { store: { ...store, ...fault(store) } };
  };

  it.each<[fault: string, open: () => { store: RateLimitStore }, test: string]>([
    ["writes without a guard", () => ({ store: broken.unguardedStore() }), EXACT],
    ["decides on old states", () => ({ store: broken.staleStore() }), "stores numbers exactly"],
    ["repeats writes", () => ({ store: broken.duplicatingStore() }), EXACT],
    ["loses writes", () => ({ store: broken.lossyStore() }), EXACT],
    [
      "guards only rows that change",
      () => ({ store: broken.skewedStore() }),
      "gives back unchanged",
    ],
    ["tears writes", () => ({ store: broken.tornStore() }), "writes all rows of one decision"],
    [
      "rounds numbers to 15 digits",
      faulty(({ apply }) => ({
        apply: (decisions, call) =>
          apply(
            decisions.map((decision) => ({
              rows: decision.rows,
              decide: (states) =>
                decision.decide(
                  states.map((state) => {
                    const rounded = (n: number) => Number(n.toPrecision(15));
                    return state && { used: rounded(state.used), ts: rounded(state.ts) };
                  }),
                ),
            })),
            call,
          ),
      })),
      "stores numbers exactly",
    ],
    [
      "takes without what counts as used before",
      faulty(({ apply }) => ({
        apply: (decisions, call) =>
          apply(
            decisions.map((decision) => ({
              rows: decision.rows,
              decide: (states) => decision.decide(states),
              plain: decision.plain && { ...decision.plain, least: 0 },
            })),
            call,
          ),
      })),
      "counts as used at least what a take says",
    ],
    [
      "commits transactions whose function throws",
      faulty((store) => ({ transaction: (run) => run(undefined, store) })),
      "rolls a transaction back",
    ],
    [
      "runs `using` beside the transaction",
      faulty((store) => ({ using: () => store })),
      "joins a transaction by `using`",
    ],
    [
      "wraps the application's error",
      faulty((store) => ({
        transaction: (run, options) =>
          store.transaction!(run, options).catch((cause: unknown) => {
            throw new Error("failed", { cause });
          }),
      })),
      "rejects with the same error",
    ],
    [
      "lists the last row of a page again",
      faulty((store) => ({
        list: (name, after, count) =>
          store.list!(name, after && { ...after, shard: after.shard - 1 }, count),
      })),
      "lists the rows of a name page by page",
    ],
    [
      "lists from the next key where the position is between two rows",
      faulty((store) => ({
        list: async (name, after, count) => {
          const rows = await store.list!(name, after, count);
          return rows.filter(({ key }) => after?.shard !== -1 || key !== after.key);
        },
      })),
      "lists from a position between the rows",
    ],
    [
      "leaves out a name",
      faulty((store) => ({
        names: async function* () {
          let isFirst = true;
          for await (const name of store.names!()) if (!isFirst || (isFirst = false)) yield name;
        },
      })),
      "names every limit that has rows, each once",
    ],
    [
      "prunes rows that are not full",
      faulty((store) => ({
        prune: ({ configs, before }) => store.prune!({ configs, before: before + 1 }),
      })),
      "prunes rows that are full, and no others",
    ],
  ])("fails for a store that %s", async (_fault, open, test) => {
    const info = vi.spyOn(console, "info").mockImplementation(() => {});
    onTestFinished(() => info.mockRestore());
    const { failed } = await check(open);
    expect(failed.some((title) => title.includes(test))).toBe(true);
  });
});
