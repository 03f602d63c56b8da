import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { availableAt } from "../../client/prediction.js";
import { denialOf, snapshotOfDenial } from "../../client/denial.js";
import { CONFIG, pass, snapshotOf, startAsking } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const a = { name: "a" };

it("gives whole ms, even if the server's clock has fractions of one", () => {
  const config = { ...CONFIG, rate: 1, period: 1000 };
  expect(availableAt(snapshotOf("a", 0, { ts: 1000.5, config }), 1)).toBe(2001);
});

it("grants a call whose tokens are there, even if the server's clock was set back since", () => {
  const ts = Date.now() + 1000;
  expect(availableAt(snapshotOf("a", 3, { ts }), 3)).toBe(-Infinity);
});

it("assumes that a debt is spread evenly over the shards", () => {
  const config = { ...CONFIG, rate: 10, period: 1000, capacity: 100, shards: 10 };
  // Two of them are 2 in debt, and gain 2 a second.
  expect(availableAt(snapshotOf("a", -10, { ts: 0, config }), 1)).toBe(1500);
});

it("predicts a denial in whole ms, at an instant with fractions of one", () => {
  const checked = { value: -1, ts: 2000.5, config: CONFIG, retryAt: 1000, now: 2000.5 };
  expect(denialOf("a", checked, 990.5, 1)).toMatchObject({ retryAfter: 10, now: 2000 });
});

it("makes a call on shards in debt wait for as long as the server said", () => {
  const config = { ...CONFIG, rate: 4, period: 1000, shards: 4 };
  const facts = { kind: "RateLimited", name: "a", retryAfter: 2000, value: 0, config } as const;
  expect(availableAt(snapshotOfDenial(a, { ...facts, now: 5000 }, 1), 1)).toBe(7000);
});

it("takes a debit from two shards, and from one where the other is in debt", async () => {
  const { observer, requests } = await startAsking();
  const config = { ...CONFIG, rate: 6, shards: 2, maxReserved: 6 };
  const row = (value: number) => ({ value, ts: Date.now() });
  requests[0]!.answer(1, { config, fullest: [row(3), row(-2)] });
  await pass(1);
  expect(observer.status(a, 3)?.ok).toBe(true);
  requests.length = 0;
  observer.refresh();
  await pass(1);
  requests[0]!.answer(6, { config, fullest: [row(3), row(3)] });
  await pass(1);
  const settle = observer.debit(a, 5);
  expect(observer.status(a, 1)?.ok).toBe(true);
  expect(observer.status(a, 2)?.ok).toBe(false);
  settle();
  expect(observer.status(a, 6)?.ok).toBe(true);
});
