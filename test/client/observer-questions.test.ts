import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CONFIG, pass, saying, startByHand, startLive } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const [a, b] = [{ name: "a" }, { name: "b" }];

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

it("asks about every limit in its turn, though those before it get no answer", async () => {
  const { observer, questions } = startByHand({ isStreamless: true, pollInterval: 1000 });
  const names = Array.from({ length: 250 }, (_, i) => `limit${i}`);
  for (const name of names) observer.observe({ name }, 1, () => {});
  await pass(29_000);
  expect(new Set(questions.map(({ name }) => name))).toEqual(new Set(names));
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

it("asks about a limit that refused a call while an older question was under way", async () => {
  const { observer, questions, streams } = startByHand();
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
  const { observer, questions } = startByHand({ isStreamless: true });
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

it("asks nothing more once it is closed", async () => {
  const { observer, questions } = startByHand({ isStreamless: true, pollInterval: 1000 });
  observer.observe(a, 1, () => {});
  await pass(3000);
  expect(questions).toHaveLength(1);
  observer.close();
  await pass(60_000);
  expect(questions).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

it("does not poll a server whose answers are late any faster than it answers", async () => {
  const { observer, questions } = startByHand({ isStreamless: true, pollInterval: 1000 });
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

it("takes no answer that is older than a later one's", async () => {
  const { observer, questions } = startByHand({ isStreamless: true, pollInterval: 1000 });
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

it("lets a debit go with what is read after its charge, wherever the clocks are believed to be", async () => {
  const { observer, questions } = startByHand();
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
