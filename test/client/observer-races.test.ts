import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRateLimitObserver } from "../../client/index.js";
import { CONFIG, createHandTransport, pass, saying } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: "a" }, { name: "b" }];

function start({ isStreamless = false, pollInterval = 60_000 } = {}) {
  const transport = createHandTransport(isStreamless);
  const observer = createRateLimitObserver({ transport, pollInterval, clock: () => Date.now() });
  return { transport, ...transport, observer };
}

/** An observer that follows one limit, live, and would poll once a second. */
async function startLive() {
  const started = start({ pollInterval: 1000 });
  started.observer.observe(a, 1, () => {});
  await pass(1);
  started.questions[0]!.answer(3);
  started.streams[0]!.onSnapshot(saying("a", 3));
  await pass(0);
  return started;
}

it("takes no answer that is older than a later one's", async () => {
  const { observer, questions } = start({ isStreamless: true, pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(1);
  const now = Date.now();
  // Nobody waits for the first any longer.
  await pass(11_000);
  expect(questions).toHaveLength(2);
  questions[1]!.answer(1);
  await pass(1);
  questions[0]!.answer(3, { now, ts: now });
  await pass(1);
  expect(observer.left(a)).toBe(1);
  observer.close();
});

it("asks about a limit that refused a call while an older question was under way", async () => {
  const { observer, questions, streams } = start();
  for (const item of [a, b]) observer.observe(item, 1, () => {});
  await pass(1);
  streams[0]!.onSnapshot(saying("a", 3));
  questions[0]!.answer(3);
  await pass(1);
  // The other one's answer is still on its way.
  const facts = { kind: "RateLimited", name: "a", config: CONFIG } as const;
  observer.refused(a, { ...facts, retryAfter: 5000, value: 0, now: Date.now() });
  questions.shift()!.answer(3);
  await pass(1);
  expect(questions.map(({ name }) => name)).toEqual(["a"]);
  questions[0]!.answer(2);
  await pass(1);
  expect(observer.left(a)).toBe(2);
  observer.close();
});

it("is not offline because one limit will not tell", async () => {
  const { observer, questions } = start({ isStreamless: true });
  observer.observe(a, 1, () => {});
  await pass(1);
  questions[0]!.answer(3);
  await pass(1);
  expect(observer.connection).toBe("polling");
  const onChange = vi.fn();
  observer.observe(b, 1, onChange);
  await pass(1);
  questions[0]!.fail();
  await pass(1);
  expect(observer.connection).toBe("polling");
  expect(onChange).not.toHaveBeenCalled();
  // Nor is it online because nobody has asked yet about one.
  observer.refresh();
  await pass(1);
  for (const question of questions.splice(0)) question.fail();
  await pass(1);
  expect(observer.connection).toBe("offline");
  observer.close();
});

it("closes every stream, though one was replaced before it spoke", async () => {
  const { observer, streams } = start();
  observer.observe(a, 1, () => {});
  await pass(1);
  streams[0]!.onSnapshot(saying("a", 3));
  observer.observe(b, 1, () => {});
  await pass(1);
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  observer.close();
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

it("leaves the stream as it is when what was only rendered is forgotten", async () => {
  const { observer, streams, questions } = start();
  observer.observe(a, 1, () => {});
  await pass(1);
  // A render that never came to anything.
  observer.status(b, 1);
  observer.observe(a, 2, () => {});
  await pass(1);
  expect(streams).toHaveLength(1);
  expect(questions).toHaveLength(1);
  observer.close();
});

it("shows refills after the clock was set back", async () => {
  let [ahead, steady] = [0, 0];
  const transport = createHandTransport();
  const observer = createRateLimitObserver({
    transport,
    clock: () => Date.now() + ahead,
    monotonic: () => Date.now() + steady,
  });
  observer.observe(
    a,
    1,
    () => {},
    () => true,
  );
  await pass(1);
  const config = { ...CONFIG, period: 30_000 };
  transport.questions[0]!.answer(1, { config });
  await pass(1);
  expect(observer.left(a)).toBe(1);
  ahead = -3_600_000;
  await pass(2000);
  transport.questions[0]!.answer(1, { config });
  await pass(11_000);
  expect(observer.left(a)).toBe(2);
  observer.close();
});

it("goes on, and tells the others, when one who is told throws", async () => {
  const { observer, questions } = start({ isStreamless: true, pollInterval: 1000 });
  const onChange = vi.fn();
  observer.observe(a, 1, () => {
    throw new Error("a bug of the page's");
  });
  observer.observe(a, 1, onChange);
  await pass(1);
  questions[0]!.answer(3);
  // The page's own reports get to know.
  await expect(pass(1)).rejects.toThrow("a bug");
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(observer.connection).toBe("polling");
  await pass(1000);
  questions[0]!.fail();
  await expect(pass(1)).rejects.toThrow("a bug");
  expect(onChange).toHaveBeenCalledTimes(2);
  expect(observer.connection).toBe("offline");
  await pass(1000);
  expect(questions).toHaveLength(1);
  observer.close();
});

it("asks nothing more once it is closed", async () => {
  const { observer, questions } = start({ isStreamless: true, pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(3000);
  expect(questions).toHaveLength(1);
  observer.close();
  await pass(60_000);
  expect(questions).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

it("tells the others by the clock that one who is told brings news of", async () => {
  const { observer, questions } = start();
  let news = () => {};
  observer.observe(a, 1, () => news());
  observer.observe(b, 1, () => {});
  await pass(1);
  for (const question of questions.splice(0)) question.answer(0);
  await pass(1);
  const { retryAt } = observer.status(b, 1)!;
  const onChange = vi.fn();
  observer.observe(b, 1, () => onChange(observer.status(b, 1)!.retryAt));
  // Both are told of the clock, and the first knows better at once.
  news = () => {
    news = () => {};
    observer.receive(saying("a", 1, { now: Date.now() + 9000 }));
  };
  observer.receive(saying("a", 1, { now: Date.now() + 5000 }));
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(onChange).toHaveBeenCalledWith(retryAt! - 9000);
  observer.close();
});

it("polls while a stream says nothing, as behind a proxy that holds it back, and no more once it does", async () => {
  const { observer, questions, streams } = start({ pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(1);
  questions[0]!.answer(3);
  await pass(998);
  expect(questions).toHaveLength(0);
  for (const left of [2, 1]) {
    await pass(1000);
    questions[0]!.answer(left);
    await pass(0);
    expect(observer.left(a)).toBe(left);
    expect(observer.connection).toBe("polling");
  }
  streams[0]!.onSnapshot(saying("a", 1));
  expect(observer.connection).toBe("live");
  await pass(0);
  // The clocks may have moved apart while nothing was heard.
  questions[0]!.answer(1);
  await pass(60_000);
  expect(questions).toEqual([]);
  observer.close();
});

it("does not go on about being live when a limit that is new gets no stream", async () => {
  const { observer, questions } = await startLive();
  observer.observe(b, 1, () => {});
  await pass(1);
  questions[0]!.answer(3);
  await pass(500);
  expect(observer.connection).toBe("live");
  await pass(500);
  expect(observer.connection).toBe("polling");
  expect(questions.map(({ name }) => name)).toEqual(["a", "b"]);
  observer.close();
});

it("is polling as soon as the stream is lost, before anybody has answered", async () => {
  const { observer, questions, streams } = await startLive();
  streams[0]!.onLost();
  expect(observer.connection).toBe("polling");
  await pass(0);
  questions[0]!.fail();
  await pass(0);
  expect(observer.connection).toBe("offline");
  // The attempts that follow say nothing new, and ask nothing beside the polls.
  streams[0]!.onLost();
  await pass(0);
  expect(observer.connection).toBe("offline");
  expect(questions).toEqual([]);
  observer.close();
});

it("does not poll a server whose answers are late any faster than it answers", async () => {
  const { observer, questions } = start({ isStreamless: true, pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(3500);
  expect(questions).toHaveLength(1);
  questions[0]!.answer(3);
  await pass(499);
  expect(questions).toHaveLength(0);
  await pass(1);
  expect(questions).toHaveLength(1);
  observer.close();
});
