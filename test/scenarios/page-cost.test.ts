/**
 * How the work of a page grows with the number of calls. Work is counted, because a time depends on the
 * machine.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createCallQueue } from "../../client/call-queue.js";
import { deny, startLinked } from "../support/hand-link.js";
import { pass, snapshotOf, startByHand, startLive } from "../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

/** A config that counts how often the arithmetic reads it. */
function countedConfig(capacity: number) {
  const reads = { count: 0 };
  const config = {
    kind: "token bucket",
    period: 1000,
    capacity,
    get rate() {
      reads.count++;
      return 1;
    },
  } as const;
  return { config, reads };
}

/** Expects that twice the calls cost at most a little more than twice the work. */
async function expectLinear(costOf: (calls: number) => Promise<number> | number): Promise<void> {
  const [few, many] = [await costOf(100), await costOf(200)];
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(2.2 * few);
}

/** Holds so many calls of an exhausted limit. */
async function holdCalls(calls: number, maxWait: number) {
  const { config, reads } = countedConfig(1000);
  const { sent, take, inputs } = startLinked({ whenLimited: "wait", maxWait });
  const first = take("first");
  deny(sent[0], 2000, { config });
  await first;
  reads.count = 0;
  const aborts = Array.from({ length: calls }, () => new AbortController());
  const held = aborts.map(({ signal }, i) => take(i, signal));
  return { reads, aborts, held, inputs };
}

it.each([Infinity, 1e9])(
  "holds calls at a cost in proportion, with maxWait %d",
  async (maxWait) => {
    await expectLinear(async (calls) => (await holdCalls(calls, maxWait)).reads.count);
  },
);

it.each(["first to last", "last to first"])(
  "aborts held calls at a cost in proportion, %s",
  async (order) => {
    await expectLinear(async (calls) => {
      const { reads, aborts, held, inputs } = await holdCalls(calls, Infinity);
      const before = reads.count;
      if (order === "last to first") aborts.reverse();
      for (const abort of aborts) abort.abort();
      await Promise.all(held);
      expect(inputs()).toEqual(["first"]);
      return reads.count - before + calls;
    });
  },
);

it("starts calls that waited at a cost in proportion", async () => {
  await expectLinear((calls) => {
    let [asked, isOpen] = [0, false];
    const started: number[] = [];
    const queue = createCallQueue();
    for (let i = 0; i < calls; i++) {
      queue.enqueue({
        ticket: 0,
        next(isFirst) {
          asked++;
          return isOpen && isFirst ? () => void started.push(i) : undefined;
        },
      });
    }
    isOpen = true;
    queue.advance();
    expect(started).toEqual(Array.from({ length: calls }, (_, i) => i));
    return asked;
  });
});

it("asks the calls behind the first one about once a second", async () => {
  let asked = 0;
  const queue = createCallQueue();
  queue.enqueue({ ticket: 0, next: () => 10 });
  queue.enqueue({ ticket: 0, next: () => void asked++ });
  expect(asked).toBe(1);
  await pass(10_000);
  expect(asked).toBeGreaterThan(9);
  expect(asked).toBeLessThan(13);
});

it.each(["charged", "given back"])(
  "opens debits, %s at once, at a cost in proportion",
  async (how) => {
    await expectLinear(async (calls) => {
      const { config, reads } = countedConfig(1000);
      const { observer } = startByHand();
      const item = { name: "a" };
      observer.observe(item, 1, () => {});
      observer.receive(snapshotOf("a", 1000, { config }));
      await pass(1);
      reads.count = 0;
      const settles = Array.from({ length: calls }, () => observer.debit(item, 1));
      settles.forEach(() => expect(observer.claimDebit(item)).toBe(true));
      expect(observer.claimDebit(item)).toBe(false);
      expect(observer.remaining(item)).toBe(1000 - calls);
      for (const settle of settles) settle(how === "charged");
      await pass(0);
      expect(observer.remaining(item)).toBe(how === "charged" ? 1000 - calls : 1000);
      observer.close();
      return reads.count;
    });
  },
);

it("tells of a debit that is given back within the same tick", async () => {
  const { observer } = await startLive(3);
  const item = { name: "a" };
  const onChange = vi.fn();
  observer.observe(item, 3, onChange);
  const settle = observer.debit(item, 1);
  expect(onChange).toHaveBeenCalledTimes(1);
  settle();
  expect(observer.status(item, 3)?.ok).toBe(true);
  await pass(0);
  expect(onChange).toHaveBeenCalledTimes(2);
  observer.close();
});
