import { describe, expect, it } from "vitest";
import { runContract } from "../../../cli/verify/run-contract.js";
import { memoryStore, type RateLimitStore } from "../../../server/index.js";
import { unguardedStore } from "../../histories/broken-stores.js";

const run = (store: () => RateLimitStore, signal = new AbortController().signal) =>
  runContract({
    open: async () => ({ store: store(), close: async () => {} }),
    onGroup() {},
    signal,
  });

describe("the contract in the runner of verify", () => {
  it("passes for the memory store, and says why it skips tests", async () => {
    const results = await run(() => memoryStore() as RateLimitStore);
    expect(results.map(({ group }) => group)).toEqual([
      "rows",
      "takes",
      "sharing",
      "transactions",
      "upkeep",
      "overrides",
    ]);
    expect(results.flatMap(({ failed }) => failed)).toEqual([]);
    const skipped = results.flatMap((each) => each.skipped);
    expect(skipped.map(({ reason }) => reason)).toContain(
      "this store has no peer: `open` returned none",
    );
    expect(results.every(({ passed }) => passed > 0)).toBe(true);
  });

  it("finds a store that reads and then writes without a guard", async () => {
    const results = await run(unguardedStore);
    const sharing = results.find(({ group }) => group === "sharing")!;
    expect(sharing.failed.map(({ test }) => test)).toContain(
      "grants exactly 37 of 200 simultaneous decisions on a new row of 37 tokens",
    );
    expect(sharing.failed[0]!.message).toMatch(/^expected 37, got \d+$/);
  });

  it("reports a store that cannot be opened as failed tests", async () => {
    const results = await run(() => {
      throw new Error("no connection");
    });
    expect(results[0]!.passed).toBe(0);
    expect(new Set(results[0]!.failed.map(({ message }) => message))).toEqual(
      new Set(["no connection"]),
    );
  });

  it("fails a test that never ends", async () => {
    const silent = { apply: () => new Promise<never>(() => {}) } as RateLimitStore;
    const [rows] = await runContract({
      open: async () => ({ store: silent, close: async () => {} }),
      onGroup() {},
      signal: new AbortController().signal,
      patience: 1,
    });
    expect(rows!.passed).toBe(0);
    expect(rows!.failed[0]!.message).toBe("took longer than 0.001 s");
  });

  it("ends when the database has gone away, which fails no further tests", async () => {
    let failures = 0;
    const running = runContract({
      open: () => Promise.reject(new Error("no connection")),
      onGroup() {},
      onFailure: async () => {
        if (++failures === 2) throw new Error("gone");
      },
      signal: new AbortController().signal,
    });
    await expect(running).rejects.toThrow("gone");
    expect(failures).toBe(2);
  });

  it("reports no test that fails because the run was stopped", async () => {
    const controller = new AbortController();
    const shown: unknown[] = [];
    const running = runContract({
      async open() {
        controller.abort(new Error("stopped"));
        throw new Error("the connection was closed");
      },
      onGroup: (result) => shown.push(result),
      signal: controller.signal,
    });
    await expect(running).rejects.toThrow("stopped");
    expect(shown).toEqual([]);
  });

  it("stops before the next test when it is told to", async () => {
    const controller = new AbortController();
    let opened = 0;
    const running = run(() => {
      if (++opened === 3) controller.abort(new Error("stopped"));
      return memoryStore() as RateLimitStore;
    }, controller.signal);
    await expect(running).rejects.toThrow("stopped");
    expect(opened).toBe(3);
  });
});
