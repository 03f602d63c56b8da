/** Unreliable snapshots: malformed ones, and those that a cache has kept. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RateLimitSnapshot, SnapshotCache } from "../../client/index.js";
import { CONFIG, pass, snapshotOf, startByHand, startLive } from "../support/hand-transport.js";

const [item, SECOND, MINUTE] = [{ name: "a" }, 1000, 60_000];

beforeEach(() => void vi.useFakeTimers({ now: 1e12 }));
afterEach(() => void vi.useRealTimers());

const startingAt = (starts: unknown) => ({ ...CONFIG, kind: "fixed window", starts }) as never;
const MALFORMED: [string, unknown][] = [
  ["is not an object", "3 left"],
  ["is null", null],
  ["is a list", [3]],
  ["has no ts", { ...snapshotOf("a", 0, { now: 1e12 }), ts: undefined }],
  ["has no value", { ...snapshotOf("a", 0, { now: 1e12 }), value: undefined }],
  ["has no now", { ...snapshotOf("a", 0, { now: 1e12 }), now: null }],
  ["has a text for a number", { ...snapshotOf("a", 0, { now: 1e12 }), value: "0" }],
  ["has no config", { ...snapshotOf("a", 0, { now: 1e12 }), config: undefined }],
  ["has an unknown kind", snapshotOf("a", 0, { config: { ...CONFIG, kind: "leaky" } as never })],
  ["has a malformed end of a closing", snapshotOf("a", 0, { closedUntil: "1" as never })],
  ["has no rate", snapshotOf("a", 0, { config: { ...CONFIG, rate: NaN } })],
  ["has a rate below 0", snapshotOf("a", 0, { config: { ...CONFIG, rate: -1 } })],
  ["has no period", snapshotOf("a", 0, { config: { ...CONFIG, period: NaN } })],
  [
    "has a capacity of null",
    snapshotOf("a", 0, { config: { ...CONFIG, capacity: null as never } }),
  ],
  ["has a number for a list of windows", snapshotOf("a", 0, { config: startingAt(7) })],
  ["has a malformed window", snapshotOf("a", 0, { config: startingAt([1e12, null]) })],
  ["has no shards", snapshotOf("a", 0, { config: { ...CONFIG, shards: 0 } })],
  ["has no list of shards", snapshotOf("a", 0, { fullest: {} as never })],
  ["has an empty list of shards", snapshotOf("a", 0, { fullest: [] })],
  ["has a shard of null", snapshotOf("a", 0, { fullest: [null] as never })],
  ["has a malformed shard", snapshotOf("a", 0, { fullest: [{ value: 0 }] as never })],
];

it.each(MALFORMED)("ignores a snapshot that %s, from wherever it comes", async (_, malformed) => {
  const snapshot = malformed as RateLimitSnapshot;
  const { observer, requests, streams } = await startLive(3);
  const onChange = vi.fn();
  observer.observe(item, 1, onChange, () => true);
  const before = observer.status(item, 1);
  streams[0]!.onSnapshot(snapshot);
  observer.receive(snapshot);
  observer.refresh(item);
  await pass(1);
  requests[0]!.answerWith(snapshot);
  await pass(1);
  expect(onChange).not.toHaveBeenCalled();
  expect(observer.status(item, 1)).toBe(before);
  expect(observer.check(item, Date.now(), 1)?.now).toBe(Date.now());
  const cached = startByHand({ cache: { get: () => snapshot, set() {} } });
  cached.observer.observe(item, 1, () => {});
  expect(cached.observer.status(item, 1)).toBeUndefined();
});

/** A cache whose snapshot denies calls for six seconds, and was kept so long ago. */
function cacheOf(keptAt: number | undefined, serverAhead = 0): SnapshotCache {
  const now = 1e12 + serverAhead;
  const config = { kind: "token bucket", rate: 1, period: 6 * SECOND } as const;
  return {
    get: () => snapshotOf("a", 0, { now, ts: now, config }),
    set() {},
    ...(keptAt !== undefined && { updatedAt: () => keptAt }),
  };
}

it.each([
  ["just now", 0, 0, 6 * SECOND],
  ["4 s ago", 4 * SECOND, 0, 2 * SECOND],
  ["4 s ago, from a server an hour ahead", 4 * SECOND, 60 * MINUTE, 2 * SECOND],
  ["4 s ago, from a server an hour behind", 4 * SECOND, -60 * MINUTE, 2 * SECOND],
  ["4 minutes ago", 4 * MINUTE, 0, 0],
  ["in a day, by a clock that was put back", -1440 * MINUTE, 0, 6 * SECOND],
])(
  "believes a snapshot that was kept %s for as long as it is young",
  async (_, ago, ahead, wait) => {
    vi.setSystemTime(1e12 + ago);
    const cache = cacheOf(1e12, ahead);
    const { observer } = startByHand({ cache });
    const onChange = vi.fn();
    observer.observe(item, 1, onChange);
    const start = Date.now();
    const expected = wait > 0 ? { ok: false, retryAt: start + wait } : { ok: true };
    expect(observer.status(item, 1)).toMatchObject(expected);
    expect(observer.check(item, start, 1)?.retryAt).toBe(wait > 0 ? start + wait : undefined);
    expect(observer.remaining(item)).toBe(wait > 0 ? 0 : 1);
    // The server does not answer.
    await pass(wait);
    expect(observer.status(item, 1)).toEqual({ ok: true, retryAt: undefined });
    expect(onChange.mock.calls.length > 0).toBe(wait > 0);
    expect(observer.status(item, 1)?.ok).toBe(true);
    const settle = observer.debit(item, 1);
    expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: Date.now() + 6 * SECOND });
    settle();
  },
);

it("believes a snapshot for its own wait, where the cache does not say how old it is", async () => {
  vi.setSystemTime(1e12 + 4 * MINUTE);
  const { observer } = startByHand({ cache: cacheOf(undefined) });
  observer.observe(item, 1, () => {});
  expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: Date.now() + 6 * SECOND });
});

it("does not read the server's time from a snapshot that was kept", async () => {
  const keptAt = 1e12;
  vi.setSystemTime(keptAt + 4 * MINUTE);
  // The cache's snapshot says that the server is two hours ahead.
  const { observer, streams } = startByHand({ cache: cacheOf(keptAt, 120 * MINUTE) });
  observer.observe(item, 1, () => {});
  await pass(1);
  const config = { kind: "token bucket", rate: 1, period: 6 * SECOND } as const;
  streams[0]!.onSnapshot(snapshotOf("a", 0, { config }));
  expect(observer.check(item, Date.now(), 1)?.now).toBe(Date.now());
  expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: Date.now() + 6 * SECOND });
});

it("judges a snapshot that was kept by the server's time, once that is known", async () => {
  const { observer, requests } = startByHand({ cache: cacheOf(1e12 + MINUTE) });
  observer.observe({ name: "b" }, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  await pass(4 * SECOND - 1);
  observer.observe(item, 1, () => {});
  expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: 1e12 + 6 * SECOND });
});
