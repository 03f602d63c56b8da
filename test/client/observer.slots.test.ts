/** The slots that a page shows, by the snapshots of a real limiter. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver } from "../../client/observer.js";
import { predict } from "../../client/prediction.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";

const TTL = 30_000;
const item = { name: "generations" } as const;

beforeEach(() => void vi.useFakeTimers({ now: 1e12 }));
afterEach(() => void vi.useRealTimers());

async function start() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { generations: { kind: "concurrency", slots: 2, ttl: TTL } },
  });
  const observer = createRateLimitObserver({
    transport: {
      status: async () => (await limiter.snapshots([item]))[0]!,
      watch: () => () => {},
    },
  });
  observer.observe(item, 1, () => {});
  const read = async () => {
    for (const snapshot of await limiter.snapshots([item])) observer.receive(snapshot);
    return { status: observer.status(item, 1), remaining: observer.remaining(item) };
  };
  return { limiter, observer, read };
}

it("shows how many are free, and the earliest instant at which one can be", async () => {
  const { limiter, observer, read } = await start();
  expect(await read()).toMatchObject({ status: { ok: true }, remaining: 2 });
  const first = await limiter.enter("generations");
  expect(await read()).toMatchObject({ status: { ok: true }, remaining: 1 });
  await vi.advanceTimersByTimeAsync(1000);
  const second = await limiter.enter("generations");
  const { status, remaining } = await read();
  expect({ status, remaining }).toEqual({
    status: { ok: false, retryAt: 1e12 + TTL },
    remaining: 0,
  });
  // The slots were renewed.
  await vi.advanceTimersByTimeAsync(TTL / 2);
  expect((await read()).status!.retryAt).toBeGreaterThan(1e12 + TTL);
  if (second.ok) await second.release();
  expect(await read()).toMatchObject({ status: { ok: true }, remaining: 1 });
  if (first.ok) await first.release();
  expect(await read()).toMatchObject({ remaining: 2 });
  expect(observer.check(item, Date.now(), 1)).toMatchObject({ config: { slots: 2, capacity: 2 } });
});

it("predicts what the limiter answers when no slot is renewed", async () => {
  const limits = { generations: { kind: "concurrency", slots: 2, ttl: TTL } } as const;
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  await limiter.enter("generations");
  // Without its timers, a holder is as good as dead.
  vi.setSystemTime(1e12 + 10);
  await limiter.enter("generations");
  const [snapshot] = await limiter.snapshots([item]);
  for (const at of [TTL - 1, TTL, TTL + 9, TTL + 10]) {
    vi.setSystemTime(1e12 + at);
    const { ok, value } = await limiter.check("generations");
    const predicted = predict(snapshot!, 0, 1e12 + at, 0);
    const isOk = predict(snapshot!, 0, 1e12 + at, 1).retryAt === undefined;
    expect({ at, ok: isOk, value: predicted.value }).toEqual({ at, ok, value });
  }
});
