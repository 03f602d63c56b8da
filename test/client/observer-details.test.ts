import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver, type RateLimitObserverOptions } from "../../client/index.js";
import { opensAt } from "../../client/prediction.js";
import { refusalOf, snapshotOfRefusal } from "../../client/refusal.js";
import { CONFIG, createHandTransport, pass, saying } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: "a" }, { name: "b" }];

interface Start extends Omit<RateLimitObserverOptions, "transport"> {
  isStreamless?: boolean;
}

function start({ isStreamless = false, ...options }: Start = {}) {
  const transport = createHandTransport(isStreamless);
  const observer = createRateLimitObserver({
    transport,
    pollInterval: 60_000,
    clock: () => Date.now(),
    ...options,
  });
  return { ...transport, observer };
}

/** An observer that follows one limit, live, which has told how many tokens it holds. */
async function startLive(value: number, options: Start = {}) {
  const started = start(options);
  started.observer.observe(a, 1, () => {});
  await pass(1);
  started.questions[0]!.answer(value);
  started.streams[0]!.onSnapshot(saying("a", value));
  await pass(1);
  expect(started.observer.connection).toBe("live");
  return started;
}

it("those who are told may come and go", async () => {
  const { observer, questions } = start({ isStreamless: true });
  const told = vi.fn();
  const look = () => {
    const stop = observer.observe(a, 1, () => {
      told();
      stop();
      look();
    });
  };
  look();
  await pass(1);
  questions[0]!.fail();
  await pass(1);
  expect(observer.connection).toBe("offline");
  expect(told).toHaveBeenCalledTimes(1);
  observer.close();
});

it("knows from the cache what a call would get, before the server has spoken", () => {
  const { observer } = start({ cache: { get: () => saying("a", 0), set() {} } });
  const retryAt = Date.now() + Math.ceil(1e9 / 3);
  expect(observer.status(a, 1)).toEqual({ ok: false, retryAt });
});

it("keeps in the cache what the server said, without what is assumed", async () => {
  const set = vi.fn();
  const { observer, streams } = await startLive(3, { cache: { get: () => undefined, set } });
  const before = saying("a", 3);
  await pass(10);
  observer.debit(a, 1);
  streams[0]!.onSnapshot(before);
  expect(observer.left(a)).toBe(2);
  expect(set).toHaveBeenLastCalledWith(a, before);
  observer.close();
});

it("takes news for later than an answer of the same ms, and an answer that is later for news", async () => {
  const { observer, questions, streams } = await startLive(3);
  observer.refresh(a);
  await pass(1);
  const now = Date.now();
  streams[0]!.onSnapshot(saying("a", 0));
  questions[0]!.answer(3, { now, ts: now });
  await pass(1);
  expect(observer.left(a)).toBe(0);
  observer.refresh(a);
  await pass(1);
  streams[0]!.onSnapshot(saying("a", 1));
  await pass(1);
  questions[0]!.answer(2);
  await pass(1);
  expect(observer.left(a)).toBe(2);
  observer.close();
});

it("tells of one limit what the answer about another says of the clock", async () => {
  const { observer, questions } = await startLive(0);
  const onChange = vi.fn();
  observer.observe(a, 1, onChange);
  const before = observer.status(a, 1)!.retryAt!;
  observer.observe(b, 1, () => {});
  await pass(1);
  const now = Date.now() - 5000;
  questions[0]!.answer(3, { now, ts: now });
  await pass(1);
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(observer.status(a, 1)!.retryAt).toBe(before + 5000);
  observer.close();
});

it("shows refills at their own pace while others come and go", async () => {
  const { observer, questions } = start();
  const onChange = vi.fn();
  observer.observe(a, 1, onChange, () => true);
  await pass(1);
  questions[0]!.answer(1, { config: { ...CONFIG, rate: 100, period: 1000 } });
  await pass(1);
  onChange.mockClear();
  for (let i = 0; i < 20; i++) {
    const stop = observer.observe(a, 1, () => {});
    await pass(20);
    stop();
  }
  expect(onChange).not.toHaveBeenCalled();
  await pass(600);
  expect(onChange).toHaveBeenCalledTimes(1);
  observer.close();
});

it("is found by the client's links while it follows something", async () => {
  const { observer, observers } = start();
  const stop = observer.observe(a, 1, () => {});
  expect([...observers]).toEqual([]);
  await pass(1);
  expect([...observers]).toEqual([observer]);
  stop();
  await pass(1);
  expect([...observers]).toEqual([]);
});

it("says the same to those who stay when one of them goes", async () => {
  const { observer } = await startLive(0);
  const stop = observer.observe(a, 1, () => {});
  const before = observer.status(a, 1);
  expect(before?.ok).toBe(false);
  stop();
  expect(observer.status(a, 1)).toBe(before);
  await pass(1);
  expect(observer.status(a, 1)).toBe(before);
  observer.close();
});

it("says the same of what is left to two who look in one go", async () => {
  const { observer, questions } = start();
  observer.observe(a, 1, () => {});
  await pass(1);
  questions[0]!.answer(0, { config: { ...CONFIG, rate: 100, period: 1000 } });
  await pass(1);
  vi.setSystemTime(Date.now() + 100);
  const left = observer.left(a);
  vi.setSystemTime(Date.now() + 100);
  expect(observer.left(a)).toBe(left);
  observer.close();
});

it("refuses a debit that is no count, and does nothing for none", async () => {
  const { observer, questions } = await startLive(3);
  expect(() => observer.debit(b, -1)).toThrow("count must be");
  observer.debit(a, 0)(true);
  await pass(1);
  expect(questions).toEqual([]);
  observer.close();
});

it("asks nothing about a charge that the stream has told of", async () => {
  const { observer, questions, streams } = await startLive(3);
  const settle = observer.debit(a, 1);
  await pass(1);
  streams[0]!.onSnapshot(saying("a", 2));
  settle(true);
  await pass(1);
  expect(questions).toEqual([]);
  expect(observer.left(a)).toBe(2);
  observer.close();
});

it("leaves no timer behind", async () => {
  const { observer, questions, streams } = start({ isStreamless: true });
  observer.observe(a, 1, () => {});
  await pass(1);
  questions[0]!.answer(0);
  await pass(1);
  // The wait, the poll and the next attempt at a stream.
  expect(vi.getTimerCount()).toBe(3);
  observer.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(streams).toHaveLength(1);
});

it("asks in one go what is asked for in one tick, and what comes meanwhile in the next", async () => {
  const { observer, questions, streams } = await startLive(3);
  observer.observe(b, 1, () => {});
  await pass(1);
  questions[0]!.answer(3);
  streams[1]!.onSnapshot(saying("b", 3));
  await pass(1);
  observer.refresh(a);
  observer.refresh(b);
  await pass(1);
  expect(questions.map(({ name }) => name)).toEqual(["a", "b"]);
  observer.refresh(b);
  observer.refresh(b);
  questions[0]!.answer(3);
  await pass(1);
  expect(questions).toHaveLength(1);
  questions[0]!.answer(3);
  await pass(1);
  expect(questions.map(({ name }) => name)).toEqual(["b"]);
  observer.close();
});

it("tries a stream again after ever longer pauses, until it speaks", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  const { observer, streams } = start();
  observer.observe(a, 1, () => {});
  await pass(1);
  for (const pause of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    const before = streams.length;
    streams.at(-1)!.onEnded();
    await pass(pause - 1);
    expect(streams).toHaveLength(before);
    await pass(1);
    expect(streams).toHaveLength(before + 1);
  }
  streams.at(-1)!.onSnapshot(saying("a", 3));
  vi.mocked(Math.random).mockReturnValue(0);
  const before = streams.length;
  streams.at(-1)!.onEnded();
  await pass(499);
  expect(streams).toHaveLength(before);
  await pass(1);
  expect(streams).toHaveLength(before + 1);
  // Whoever opens it before its turn opens it once.
  streams.at(-1)!.onEnded();
  observer.refresh();
  await pass(60_000);
  observer.refresh();
  await pass(60_000);
  expect(streams).toHaveLength(before + 2);
  vi.restoreAllMocks();
  observer.close();
});

it("cares nothing for the end of a stream that is replaced, nor keeps it when the new one ends", async () => {
  const { observer, questions, streams } = await startLive(3);
  observer.observe(b, 1, () => {});
  await pass(1);
  questions[0]!.answer(3);
  await pass(1);
  streams[0]!.onLost();
  streams[0]!.onEnded();
  await pass(50_000);
  expect(questions).toEqual([]);
  expect(streams).toHaveLength(2);
  expect(streams[0]!.isClosed).toBe(false);
  streams[1]!.onEnded();
  expect(streams[0]!.isClosed).toBe(true);
  await pass(1);
  expect(questions.map(({ name }) => name)).toEqual(["a", "b"]);
  observer.close();
});

it("asks once when a stream is back, and no more while it stays", async () => {
  const { observer, questions, streams } = await startLive(3);
  const say = () => streams[0]!.onSnapshot(saying("a", 3));
  streams[0]!.onLost();
  streams[0]!.onLost();
  await pass(1);
  expect(questions).toHaveLength(1);
  questions[0]!.answer(3);
  await pass(1);
  expect(observer.connection).toBe("polling");
  say();
  expect(observer.connection).toBe("live");
  say();
  await pass(1);
  expect(questions).toHaveLength(1);
  questions[0]!.answer(3);
  await pass(300_000);
  say();
  await pass(1);
  expect(questions).toEqual([]);
  expect(observer.connection).toBe("live");
  observer.close();
});

it("follows one limit instead of another where they change places in one tick", async () => {
  const { observer, questions, streams } = start();
  const stop = observer.observe(a, 1, () => {});
  await pass(1);
  questions[0]!.answer(3);
  await pass(1);
  stop();
  observer.observe(b, 1, () => {});
  await pass(1);
  expect(streams.map(({ names }) => names)).toEqual([["a"], ["b"]]);
  expect(questions.map(({ name }) => name)).toEqual(["b"]);
  observer.close();
});

it("asks about every limit in its turn, though those before it get no answer", async () => {
  const { observer, questions } = start({ isStreamless: true, pollInterval: 1000 });
  const names = Array.from({ length: 250 }, (_, i) => `limit${i}`);
  for (const name of names) observer.observe({ name }, 1, () => {});
  await pass(29_000);
  expect(new Set(questions.map(({ name }) => name))).toEqual(new Set(names));
  observer.close();
});

it("lets a debit go with what is read after its charge, wherever the clocks are believed to be", async () => {
  const { observer, questions } = start();
  observer.observe(a, 1, () => {});
  // Read at the very end of its trip, and taken to be read in the middle.
  await pass(2000);
  questions[0]!.answer(3);
  await pass(1);
  observer.debit(a, 1)(true);
  await pass(1);
  const now = Date.now();
  // Read at the very beginning.
  await pass(1998);
  questions[0]!.answer(2, { now, ts: now });
  await pass(1);
  expect(observer.left(a)).toBe(2);
  observer.close();
});

it("says nothing of a key where there is none", async () => {
  const get = vi.fn();
  const { observer } = start({ cache: { get, set() {} } });
  observer.observe({ name: "a", key: undefined }, 1, () => {});
  expect(get.mock.lastCall).toStrictEqual([a]);
  observer.close();
});

/** An observer of a limit that gains a token every 10 ms, and holds so many now. */
async function startQuick(value: number) {
  const clock = vi.fn(() => Date.now());
  const { observer, questions, streams } = start({ clock });
  const onChange = vi.fn();
  const stop = observer.observe(a, 1, onChange, () => true);
  await pass(0);
  const config = { ...CONFIG, rate: 100, period: 1000, capacity: 500 };
  questions[0]!.answer(value, { config });
  streams[0]!.onSnapshot(saying("a", value, { config }));
  await pass(0);
  expect(onChange).toHaveBeenCalled();
  onChange.mockClear();
  clock.mockClear();
  return { observer, onChange, clock, stop };
}

it("shows refills once a second, and looks no more often", async () => {
  const { observer, onChange, clock } = await startQuick(1);
  await pass(999);
  expect(onChange).not.toHaveBeenCalled();
  expect(clock).not.toHaveBeenCalled();
  await pass(1);
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(observer.left(a)).toBe(101);
  observer.close();
});

it("shows what is left with a status that turns ok, however soon", async () => {
  const { observer, onChange } = await startQuick(0);
  onChange.mockImplementation(() => observer.left(a));
  await pass(9);
  expect(onChange).not.toHaveBeenCalled();
  await pass(1);
  expect(onChange.mock.results).toMatchObject([{ value: 1 }]);
  expect(observer.status(a, 1)?.ok).toBe(true);
  observer.close();
});

it("has no timer while nobody shows what is left and every call may go", async () => {
  const { observer, stop } = await startQuick(1);
  observer.observe(a, 1, () => {});
  stop();
  expect(vi.getTimerCount()).toBe(1);
  await pass(0);
  expect(vi.getTimerCount()).toBe(0);
  observer.close();
});

it("is not live by a stream that is being replaced", async () => {
  const { observer, streams } = start();
  observer.observe(a, 1, () => {});
  await pass(1);
  observer.observe(b, 1, () => {});
  await pass(1);
  streams[0]!.onSnapshot(saying("a", 3));
  expect(observer.connection).toBe("polling");
  expect(streams[0]!.isClosed).toBe(false);
  streams[1]!.onSnapshot(saying("b", 3));
  expect(observer.connection).toBe("live");
  expect(streams[0]!.isClosed).toBe(true);
  observer.close();
});

it("is live once all its streams have spoken, and opens them anew together", async () => {
  const { observer, streams } = start();
  for (let i = 0; i <= 100; i++) observer.observe({ name: `limit${i}` }, 1, () => {});
  await pass(1);
  expect(streams).toHaveLength(2);
  streams[0]!.onSnapshot(saying("limit0", 3));
  expect(observer.connection).toBe("polling");
  streams[1]!.onSnapshot(saying("limit100", 3));
  expect(observer.connection).toBe("live");
  for (const stream of streams.slice()) stream.onEnded();
  observer.refresh();
  expect(streams).toHaveLength(4);
  await pass(60_000);
  expect(streams).toHaveLength(4);
  observer.close();
});

it("shows the refill that fills a limit up", async () => {
  const { observer, onChange } = await startQuick(499);
  onChange.mockImplementation(() => observer.left(a));
  await pass(5000);
  expect(onChange.mock.results).toMatchObject([{ value: 500 }]);
  observer.close();
});

it("tells a whole ms, though the server's clock has more of it", () => {
  const config = { ...CONFIG, rate: 1, period: 1000 };
  expect(opensAt(saying("a", 0, { ts: 1000.5, config }), 1)).toBe(2001);
});

it("lets a call go whose tokens are there, though the server's clock was since set back", () => {
  const ts = Date.now() + 1000;
  expect(opensAt(saying("a", 3, { ts }), 3)).toBe(-Infinity);
});

it("takes one debit after the other from a full limit, with what comes in between", async () => {
  const { observer } = await startQuick(500);
  observer.debit(a, 100);
  await pass(500);
  observer.debit(a, 100);
  expect(observer.left(a)).toBe(350);
  observer.close();
});

it("takes what is owed to be spread evenly over the shards", () => {
  const config = { ...CONFIG, rate: 10, period: 1000, capacity: 100, shards: 10 };
  // Two of them owe 2, and gain 2 a second.
  expect(opensAt(saying("a", -10, { ts: 0, config }), 1)).toBe(1500);
});

it("foretells a refusal in whole ms, from an instant that is none", () => {
  const checked = { value: -1, config: CONFIG, retryAt: 1000, now: 2000.5 };
  expect(refusalOf("a", checked, 990.5, 1)).toMatchObject({ retryAfter: 10, now: 2000 });
});

it("makes a call on shards that owe wait for as long as the server said", () => {
  const config = { ...CONFIG, rate: 4, period: 1000, shards: 4 };
  const facts = { kind: "RateLimited", name: "a", retryAfter: 2000, value: 0, config } as const;
  expect(opensAt(snapshotOfRefusal(a, { ...facts, now: 5000 }, 1), 1)).toBe(7000);
});

it("takes a debit from what two shards hold, and from one where the other owes", async () => {
  const { observer, questions } = start();
  observer.observe(a, 1, () => {});
  await pass(1);
  const config = { ...CONFIG, rate: 6, shards: 2, maxReserved: 6 };
  const row = (value: number) => ({ value, ts: Date.now() });
  questions[0]!.answer(1, { config, fullest: [row(3), row(-2)] });
  await pass(1);
  expect(observer.status(a, 3)?.ok).toBe(true);
  questions.length = 0;
  observer.refresh();
  await pass(1);
  questions[0]!.answer(6, { config, fullest: [row(3), row(3)] });
  await pass(1);
  const settle = observer.debit(a, 5);
  expect(observer.status(a, 1)?.ok).toBe(true);
  expect(observer.status(a, 2)?.ok).toBe(false);
  settle();
  expect(observer.status(a, 6)?.ok).toBe(true);
  observer.close();
});
