import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { opensAt } from "../../client/prediction.js";
import { refusalOf, snapshotOfRefusal } from "../../client/refusal.js";
import { CONFIG, pass, saying, startByHand } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const a = { name: "a" };

it("tells a whole ms, though the server's clock has more of it", () => {
  const config = { ...CONFIG, rate: 1, period: 1000 };
  expect(opensAt(saying("a", 0, { ts: 1000.5, config }), 1)).toBe(2001);
});

it("lets a call go whose tokens are there, though the server's clock was since set back", () => {
  const ts = Date.now() + 1000;
  expect(opensAt(saying("a", 3, { ts }), 3)).toBe(-Infinity);
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
  const { observer, questions } = startByHand();
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
