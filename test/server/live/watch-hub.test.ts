/** When the hub reads, which readers it notifies, and how it cleans up, with fake timers. */
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RateLimitSnapshot } from "../../../core/index.js";
import type { ChangeListener } from "../../../server/index.js";
import { changeDigest } from "../../../server/index.js";
import { createWatchHub } from "../../../server/live/watch-hub.js";
import { keyOption } from "../../../core/key-option.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const windows = { kind: "fixed window", rate: 9, period: 1000, start: 0 } as const;

const paid = { ...windows, rate: 90 };

function start(interval = Infinity) {
  const listeners = new Set<ChangeListener>();
  const reads: string[] = [];
  const state: { value: number; ts: number; now: number; plan?: string } = {
    value: 9,
    ts: 0,
    now: 100,
  };
  let answer: (items: readonly { name: string }[]) => Promise<void> = async () => {};
  const hub = createWatchHub<string>(
    {
      clock: () => 123,
      configOf: () => windows,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      async snapshots(items) {
        reads.push(items.map(({ name, key = "" }) => `${name} ${key}`.trim()).join(", "));
        const read = items.map(({ name, plan }) => ({
          name,
          config: plan === "paid" ? paid : windows,
          ...(plan !== undefined && { plan }),
          ...state,
        }));
        await answer(items);
        return read;
      },
    },
    interval,
  );
  return {
    state,
    reads,
    listeners,
    change(name: string, key?: string) {
      for (const listener of listeners) listener(changeDigest(name, key));
    },
    answerWith: (next: typeof answer) => (answer = next),
    follow(...names: [name: string, key?: string | undefined, plan?: string][]) {
      const seen: RateLimitSnapshot[] = [];
      const connection = new AbortController();
      const items = names.map(([name, key, plan]) => ({
        name,
        ...keyOption(key),
        plan,
        requested: key,
      }));
      const ended = (async () => {
        for await (const snapshot of hub.watch(items, connection.signal)) seen.push(snapshot);
      })();
      return {
        seen,
        signal: connection.signal,
        async leave() {
          connection.abort();
          await ended;
        },
      };
    },
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it("reads after a change, but not within 50 ms of the last read", async () => {
  const { reads, state, change, follow } = start();
  const { seen } = follow(["a"]);
  await pass(0);
  expect(seen).toMatchObject([{ name: "a", value: 9, now: 123 }]);
  state.value = 8;
  change("a");
  change("b");
  await pass(49);
  expect(reads).toEqual(["a"]);
  await pass(1);
  expect(reads).toEqual(["a", "a"]);
  expect(seen.map(({ value }) => value)).toEqual([9, 8]);
});

it("reads a limit again if it changed during a read, and never reads concurrently", async () => {
  const { reads, state, change, follow, answerWith } = start();
  let release = () => {};
  answerWith(() => new Promise((resolve) => (release = resolve)));
  const { seen } = follow(["a"]);
  await pass(0);
  state.value = 7;
  change("a");
  await pass(500);
  expect(reads).toEqual(["a"]);
  release();
  await pass(50);
  expect(reads).toEqual(["a", "a"]);
  release();
  await pass(0);
  expect(seen.map(({ value }) => value)).toEqual([9, 7]);
});

it("retries a failed read with the next change of another limit", async () => {
  const { reads, change, follow, answerWith } = start();
  answerWith(() => Promise.reject(new Error("the store is down")));
  const { seen } = follow(["a"], ["b"]);
  await pass(1000);
  expect(reads).toEqual(["a, b"]);
  answerWith(async () => {});
  change("b");
  await pass(50);
  expect(reads).toEqual(["a, b", "a, b"]);
  expect(seen.map(({ name }) => name)).toEqual(["a", "b"]);
});

it("leaves neither timers nor listeners behind, whenever its readers leave", async () => {
  const { listeners, change, follow, answerWith } = start(1000);
  let release = () => {};
  const moments = [
    async () => {},
    () => pass(0),
    () => pass(100),
    async () => {
      await pass(100);
      change("a");
    },
  ];
  for (const isSlow of [false, true]) {
    answerWith(isSlow ? () => new Promise((resolve) => (release = resolve)) : async () => {});
    for (const moment of moments) {
      const reader = follow(["a"]);
      expect([listeners.size, getEventListeners(reader.signal, "abort").length]).toEqual([1, 1]);
      await moment();
      await reader.leave();
      release();
      await pass(0);
      expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0]);
      expect(getEventListeners(reader.signal, "abort")).toEqual([]);
    }
  }
});

it("serves a reader that arrives after all others have left, during a read or before it", async () => {
  const { change, follow, state, answerWith } = start();
  await follow(["a"]).leave();
  const second = follow(["a"]);
  await pass(50);
  expect(second.seen).toHaveLength(1);
  let release = () => {};
  answerWith(() => new Promise((resolve) => (release = resolve)));
  change("a");
  await pass(50);
  await second.leave();
  const third = follow(["a"]);
  answerWith(async () => {});
  release();
  await pass(50);
  expect(third.seen).toHaveLength(1);
  state.value = 5;
  change("a");
  await pass(50);
  expect(third.seen.at(-1)).toMatchObject({ value: 5 });
});

it("gives a later reader the known snapshot at once, and then the new one", async () => {
  const { reads, state, change, follow } = start();
  const first = follow(["a"]);
  await pass(100);
  state.value = 6;
  const later = follow(["a"], ["a"]);
  await Promise.resolve();
  await Promise.resolve();
  expect(later.seen[0]).toMatchObject({ value: 9 });
  await pass(0);
  expect(reads).toEqual(["a", "a"]);
  expect(later.seen.map(({ value }) => value)).toEqual([9, 9, 6, 6]);
  await later.leave();
  state.value = 4;
  change("a");
  await pass(50);
  expect(first.seen.map(({ value }) => value)).toEqual([9, 6, 4]);
});

it("yields a snapshot if the window has moved and the value has not changed", async () => {
  const { state, change, follow } = start();
  const { seen } = follow(["a"]);
  await pass(0);
  state.ts = -500;
  change("a");
  await pass(50);
  expect(seen.map(({ ts }) => ts)).toEqual([0, -500]);
});

it("keeps limits and keys apart that are the same when concatenated", async () => {
  const { reads, change, follow } = start();
  const { seen } = follow(["ab"], ["a", "b"]);
  await pass(50);
  expect(reads).toEqual(["ab, a b"]);
  expect(seen).toMatchObject([{ name: "ab" }, { name: "a", key: "b" }]);
  change("a", "b");
  await pass(50);
  expect(reads[1]).toBe("a b");
});

it("goes on for other limits when all readers of one limit have left", async () => {
  const { reads, change, follow } = start();
  follow(["a"]);
  const other = follow(["b"]);
  await pass(50);
  await other.leave();
  change("b");
  change("a");
  await pass(50);
  expect(reads).toEqual(["a, b", "a"]);
});

it("yields a snapshot if an override has put the key on another plan of the same config", async () => {
  const { state, change, follow } = start();
  const { seen } = follow(["a", "ada", "free"]);
  await pass(0);
  state.plan = "trial";
  change("a", "ada");
  await pass(50);
  expect(seen.map(({ plan }) => plan)).toEqual(["free", "trial"]);
});

it("reads a limit by each plan in the same query, and once for all readers of a plan", async () => {
  const { reads, state, change, follow } = start(1000);
  const free = follow(["a", undefined, "free"]);
  const readers = [free, follow(["a", undefined, "paid"]), follow(["a", undefined, "paid"])];
  await pass(50);
  expect(reads).toEqual(["a, a"]);
  expect(readers.map(({ seen }) => seen.map((snapshot) => snapshot.config.rate))).toEqual([
    [9],
    [90],
    [90],
  ]);
  state.value = 7;
  change("a");
  await pass(50);
  expect(reads).toEqual(["a, a", "a, a"]);
  for (const { seen } of readers) expect(seen.at(-1)).toMatchObject({ value: 7 });
  await pass(1000);
  expect(reads).toEqual(["a, a", "a, a", "a, a"]);
  await readers[0]!.leave();
  await pass(1000);
  state.value = 6;
  change("a");
  await pass(50);
  expect(reads.slice(3)).toEqual(["a", "a"]);
  expect(readers[2]!.seen.at(-1)).toMatchObject({ value: 6, config: paid });
});

it("tells of slots that were renewed, although as many are free", async () => {
  const config = { kind: "fixed window", rate: 1, period: 1000, capacity: 2, slots: 2 } as const;
  const { state, change, follow } = start();
  Object.assign(state, { value: 1, ts: 100, config: { ...config, starts: [1100] } });
  const { seen } = follow(["generations"]);
  await vi.advanceTimersByTimeAsync(100);
  change("generations");
  await vi.advanceTimersByTimeAsync(100);
  Object.assign(state, { config: { ...config, starts: [1500] } });
  change("generations");
  await vi.advanceTimersByTimeAsync(100);
  expect(seen.map((snapshot) => snapshot.config)).toMatchObject([
    { starts: [1100] },
    { starts: [1500] },
  ]);
});
