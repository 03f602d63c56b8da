import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MINUTE } from "../../core/index.js";
import {
  pass,
  snapshotOf,
  startAsking,
  startByHand,
  startLive,
} from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: "a" }, { name: "b" }];

it("reopens a stream after ever longer pauses, until it stays open", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  const { observer, streams } = await startAsking();
  for (const pause of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    const before = streams.length;
    streams.at(-1)!.onEnded();
    await pass(pause - 1);
    expect(streams).toHaveLength(before);
    await pass(1);
    expect(streams).toHaveLength(before + 1);
  }
  streams.at(-1)!.onSnapshot(snapshotOf("a", 3));
  await pass(10_000);
  vi.mocked(Math.random).mockReturnValue(0);
  const before = streams.length;
  streams.at(-1)!.onEnded();
  await pass(499);
  expect(streams).toHaveLength(before);
  await pass(1);
  expect(streams).toHaveLength(before + 1);
  // An early refresh opens it once.
  streams.at(-1)!.onEnded();
  observer.refresh();
  await pass(60_000);
  observer.refresh();
  await pass(60_000);
  expect(streams).toHaveLength(before + 2);
  vi.restoreAllMocks();
});

it("ignores the end of a replaced stream, and closes it when the new one ends", async () => {
  const { observer, requests, streams } = await startLive(3);
  observer.observe(b, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  await pass(1);
  streams[0]!.onLost();
  streams[0]!.onEnded();
  await pass(50_000);
  expect(requests).toEqual([]);
  expect(streams).toHaveLength(2);
  expect(streams[0]!.isClosed).toBe(false);
  streams[1]!.onEnded();
  expect(streams[0]!.isClosed).toBe(true);
  await pass(1);
  expect(requests.map(({ name }) => name)).toEqual(["a", "b"]);
});

it("asks once when a stream is back, and not again while it stays", async () => {
  const { observer, requests, streams } = await startLive(3);
  const say = () => streams[0]!.onSnapshot(snapshotOf("a", 3));
  streams[0]!.onLost();
  streams[0]!.onLost();
  await pass(1);
  expect(requests).toHaveLength(1);
  requests[0]!.answer(3);
  await pass(1);
  expect(observer.connection).toBe("polling");
  say();
  expect(observer.connection).toBe("live");
  say();
  await pass(1);
  expect(requests).toHaveLength(1);
  requests[0]!.answer(3);
  await pass(300_000);
  say();
  await pass(1);
  expect(requests).toEqual([]);
  expect(observer.connection).toBe("live");
});

it("follows one limit instead of another when they are swapped in one tick", async () => {
  const { observer, requests, streams } = startByHand();
  const stop = observer.observe(a, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  await pass(1);
  stop();
  observer.observe(b, 1, () => {});
  await pass(1);
  expect(streams.map(({ names }) => names)).toEqual([["a"], ["b"]]);
  expect(requests.map(({ name }) => name)).toEqual(["b"]);
});

it("does not count a stream that is being replaced as live", async () => {
  const { observer, streams } = await startAsking();
  observer.observe(b, 1, () => {});
  await pass(1);
  streams[0]!.onSnapshot(snapshotOf("a", 3));
  expect(observer.connection).toBe("polling");
  expect(streams[0]!.isClosed).toBe(false);
  streams[1]!.onSnapshot(snapshotOf("b", 3));
  expect(observer.connection).toBe("live");
  expect(streams[0]!.isClosed).toBe(true);
});

it("is live once all its streams have delivered, and reopens them together", async () => {
  const { observer, streams } = startByHand();
  for (let i = 0; i <= 100; i++) observer.observe({ name: `limit${i}` }, 1, () => {});
  await pass(1);
  expect(streams).toHaveLength(2);
  streams[0]!.onSnapshot(snapshotOf("limit0", 3));
  expect(observer.connection).toBe("polling");
  streams[1]!.onSnapshot(snapshotOf("limit100", 3));
  expect(observer.connection).toBe("live");
  for (const stream of streams.slice()) stream.onEnded();
  observer.refresh();
  expect(streams).toHaveLength(4);
  await pass(60_000);
  expect(streams).toHaveLength(4);
});

it("closes every stream, even one that was replaced before it delivered", async () => {
  const { observer, streams } = await startAsking();
  streams[0]!.onSnapshot(snapshotOf("a", 3));
  observer.observe(b, 1, () => {});
  await pass(1);
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  observer.close();
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

it("keeps the stream when a limit that was only rendered is dropped", async () => {
  const { observer, streams, requests } = await startAsking();
  // A render that was never mounted.
  observer.status(b, 1);
  observer.observe(a, 2, () => {});
  await pass(1);
  expect(streams).toHaveLength(1);
  expect(requests).toHaveLength(1);
});

it("polls until a stream delivers, as behind a proxy that holds it back", async () => {
  const { observer, requests, streams } = await startAsking({ pollInterval: 1000 });
  requests[0]!.answer(3);
  await pass(998);
  expect(requests).toHaveLength(0);
  for (const left of [2, 1]) {
    await pass(1000);
    requests[0]!.answer(left);
    await pass(0);
    expect(observer.remaining(a)).toBe(left);
    expect(observer.connection).toBe("polling");
  }
  streams[0]!.onSnapshot(snapshotOf("a", 1));
  expect(observer.connection).toBe("live");
  await pass(0);
  // The clocks may have come apart while the stream was silent.
  requests[0]!.answer(1);
  await pass(60_000);
  expect(requests).toEqual([]);
});

it("is not live any more when a new limit gets no stream", async () => {
  const { observer, requests } = await startLive(3, { pollInterval: 1000 });
  observer.observe(b, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  await pass(500);
  expect(observer.connection).toBe("live");
  await pass(500);
  expect(observer.connection).toBe("polling");
  expect(requests.map(({ name }) => name)).toEqual(["a", "b"]);
});

it("is polling as soon as the stream is lost, before any answer", async () => {
  const { observer, requests, streams } = await startLive(3, { pollInterval: 1000 });
  streams[0]!.onLost();
  expect(observer.connection).toBe("polling");
  await pass(0);
  requests[0]!.fail();
  await pass(0);
  expect(observer.connection).toBe("offline");
  // The next attempts change nothing, and ask for nothing beside the polls.
  streams[0]!.onLost();
  await pass(0);
  expect(observer.connection).toBe("offline");
  expect(requests).toEqual([]);
});

/** An observer whose streams deliver, and end after `life` ms. Counts what a server would get. */
async function startFlapping(life: number) {
  const { observer, requests, streams } = startByHand({ pollInterval: 5000 });
  for (const item of [a, b]) observer.observe(item, 1, () => {});
  const ends = new Map<number, number>();
  let asked = 0;
  /** The numbers of streams and of status requests in the next `ms`. */
  async function count(ms: number) {
    const before = [streams.length, asked] as const;
    for (const end = Date.now() + ms; Date.now() < end;) {
      for (const [i, stream] of streams.entries()) {
        if (ends.has(i)) continue;
        ends.set(i, Date.now() + life);
        for (const name of stream.names) stream.onSnapshot(snapshotOf(name, 3));
      }
      for (const [i, endsAt] of ends) {
        if (endsAt > Date.now()) continue;
        ends.set(i, Infinity);
        streams[i]!.onEnded();
      }
      await pass(50);
      asked += requests.length;
      while (requests.length > 0) requests[0]!.answer(3);
    }
    return { opened: streams.length - before[0], asked: asked - before[1] };
  }
  return { observer, count };
}

it.each([0, 100, 3000])(
  "backs off from streams that deliver and end after %d ms, and asks once per stream beside polls",
  async (life) => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const { count } = await startFlapping(life);
    await count(MINUTE);
    const { opened, asked } = await count(5 * MINUTE);
    // A pause is at least 15 seconds now. Polling asks for both limits every five seconds.
    expect(opened).toBeLessThanOrEqual(20);
    expect(asked).toBeLessThanOrEqual(2 * (60 + opened));
    expect(asked).toBeGreaterThan(2 * 30);
    vi.restoreAllMocks();
  },
);

it("reopens a stream soon that ends after a while, as on hosts that bound a response", async () => {
  const { count } = await startFlapping(15_000);
  await count(MINUTE);
  const { opened, asked } = await count(5 * MINUTE);
  expect(opened).toBeGreaterThanOrEqual(18);
  expect(asked).toBeLessThanOrEqual(2 * 60);
});

it("goes on polling while a stream that was live is lost", async () => {
  const { observer, requests, streams } = await startLive(3, { pollInterval: 1000 });
  streams[0]!.onLost();
  for (const left of [2, 1, 0]) {
    await pass(1000);
    requests[0]!.answer(left);
    await pass(0);
    expect(observer.remaining(a)).toBe(left);
  }
});

it("asks once for a stream that is lost and back again and again", async () => {
  const { observer, requests, streams } = await startLive(3, { pollInterval: 5000 });
  let asked = 0;
  for (let i = 0; i < 100; i++) {
    streams[0]!.onLost();
    await pass(100);
    streams[0]!.onSnapshot(snapshotOf("a", 3));
    await pass(2900);
    asked += requests.length;
    while (requests.length > 0) requests[0]!.answer(3);
  }
  // When it was lost first, and when it was back first.
  expect(asked).toBe(2);
  expect(observer.connection).toBe("live");
});

it.each(["close", "unobserve"])("leaves no timer after %s", async (how) => {
  const { observer, requests } = startByHand();
  const unobserve = observer.observe(a, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  await pass(1);
  if (how === "close") observer.close();
  else unobserve();
  await pass(1);
  expect(vi.getTimerCount()).toBe(0);
});

it("is not live while it follows nothing, nor until the next stream delivers", async () => {
  const { observer, requests, streams } = startByHand();
  const unobserve = observer.observe(a, 1, () => {});
  await pass(1);
  requests[0]!.answer(3);
  streams[0]!.onSnapshot(snapshotOf("a", 3));
  expect(observer.connection).toBe("live");
  unobserve();
  await pass(1);
  expect(observer.connection).toBe("polling");
  observer.observe(a, 1, () => {});
  await pass(1);
  expect(observer.connection).toBe("polling");
  streams[1]!.onSnapshot(snapshotOf("a", 3));
  expect(observer.connection).toBe("live");
});
