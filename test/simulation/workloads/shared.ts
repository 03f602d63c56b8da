/**
 * Many callers on the same few buckets, on a clock that stands still. Every call is recorded. Afterwards,
 * some order of the calls must explain all answers.
 */
import type { ItemAnswer, Operation } from "../../histories/operation.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";

const PAIRS = [
  ["a", "b"],
  ["c", "d"],
] as const;
/** The search for an order takes long for long histories. */
const MOST_OPERATIONS = 60;

type Called = Pick<Operation, "action" | "items">;

export const shared: Workload = async (caller) => {
  const { member, random, timeline, history, tally } = caller;
  const pair = random.pick(PAIRS);
  for (let i = 0; i < MOST_OPERATIONS && caller.isOn(); i++) {
    const called = pick(caller, pair);
    const start = timeline.now;
    const operation: Operation = {
      process: member.id,
      ...called,
      start,
      end: Infinity,
      answer: undefined,
    };
    history.push(operation);
    tally.note(called.action);
    try {
      const inTransaction = called.action.startsWith("limit") && random.chance(0.12);
      const most = inTransaction ? 25_000 : 2000;
      // Some applications hide errors. The package still retries a conflict.
      const hides = inTransaction && i % 2 === 0;
      const call = () => perform(caller, called, inTransaction, hides);
      operation.answer = await caller.timed(called.action, most, call);
      if (operation.answer !== undefined) operation.end = timeline.now;
      else if (caller.isCalm) caller.report("a transaction was committed without its limit");
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      caller.failed(error, called.action);
    }
    if (random.chance(0.3)) await member.sleep(random.below(20));
  }
};

function pick({ random }: Caller, pair: readonly string[]): Called {
  const item = (most: number) => ({ key: random.pick(pair), count: random.between(1, most) });
  const dice = random.next();
  if (dice < 0.45) return { action: "limit", items: [item(3)] };
  if (dice < 0.65) return { action: "refund", items: [item(3)] };
  if (dice < 0.7) return { action: "reset", items: [{ ...item(1), count: 0 }] };
  if (dice < 0.8) return { action: "getValue", items: [{ ...item(1), count: 0 }] };
  return {
    action: "limitAll",
    items: pair.map((key) => ({ key, count: random.between(1, 2) })),
  };
}

async function perform(
  { member: { frozen } }: Caller,
  { action, items }: Called,
  inTransaction: boolean,
  hides: boolean,
): Promise<ItemAnswer[] | undefined> {
  const shown = <TResult>(call: Promise<TResult>) => (hides ? call.catch(() => undefined) : call);
  const { key, count } = items[0]!;
  switch (action) {
    case "limit": {
      const found = inTransaction
        ? await frozen.transaction(({ limit }) => shown(limit("bucket", { key, count })))
        : await frozen.limit("bucket", { key, count });
      return found && [{ ok: found.ok, value: found.value }];
    }
    case "limitAll": {
      const all = items.map((item) => ({ name: "bucket" as const, ...item }));
      const found = inTransaction
        ? await frozen.transaction(({ limitAll }) => shown(limitAll(all)))
        : await frozen.limitAll(all);
      return found?.results.map(({ ok, value }) => ({ ok, value }));
    }
    case "reset":
      await frozen.reset("bucket", { key });
      return [];
    case "refund":
      return [{ ok: true, value: (await frozen.refund("bucket", { key, count })).value }];
    case "getValue":
      return [{ ok: true, value: (await frozen.getValue("bucket", { key })).value }];
  }
}
