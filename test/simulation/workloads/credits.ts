/**
 * Callers that pay from a plan and then from credits, and buy more. Each caller has buckets of its own,
 * so it knows what they hold, except for calls whose answer was lost.
 */
import type { RateLimiter } from "../../../server/index.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";

const limits = {
  plan: { kind: "token bucket", rate: 6, period: 86_400_000 },
  credits: { kind: "credits" },
} as const;
type Limiter = RateLimiter<typeof limits>;

/** Epoch ms. The plan does not refill, so every token comes from a call. */
const STILL = Date.UTC(2030, 0, 1);
const MOST_CALLS = 80;

/** The least and the most that the buckets hold together. */
interface Known {
  least: number;
  most: number;
}

export const credits: Workload = async (caller) => {
  const limiter = caller.member.limiter(limits, () => STILL) as unknown as Limiter;
  const key = `payer ${caller.random.below(2 ** 40)}`;
  const known: Known = { least: limits.plan.rate, most: limits.plan.rate };
  for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
    // Two calls at the same time, because only then the guards of a row matter.
    await Promise.all([act(caller, limiter, key, known), pay(caller, limiter, key, known)]);
    await look(caller, limiter, key, known);
    if (caller.random.chance(0.3)) await caller.member.sleep(caller.random.below(20));
  }
};

function act(caller: Caller, limiter: Limiter, key: string, known: Known): Promise<void> {
  return caller.random.chance(0.4)
    ? buy(caller, limiter, key, known)
    : pay(caller, limiter, key, known);
}

async function buy(caller: Caller, limiter: Limiter, key: string, known: Known): Promise<void> {
  const count = caller.random.between(1, 5);
  // The credits may be there before the answer.
  known.most += count;
  const credited = await tried(caller, "credit", () => limiter.credit("credits", { key, count }));
  if (credited !== undefined) known.least += count;
}

async function pay(caller: Caller, limiter: Limiter, key: string, known: Known): Promise<void> {
  const count = caller.random.between(1, 4);
  const split = caller.random.chance(0.7);
  known.least -= count;
  const options = { key, count, split };
  const result = await tried(caller, "limitFirst", () =>
    limiter.limitFirst(["plan", "credits"], options),
  );
  if (result === undefined) return;
  if (!result.ok) return void (known.least += count);
  known.most -= count;
  const paid = result.paid.reduce((sum, each) => sum + each.count, 0);
  if (paid !== count) caller.report(`limitFirst paid ${paid} of ${count}`);
  const overdrawn = result.results.find(({ value }) => value < 0);
  if (overdrawn) caller.report(`limitFirst left ${overdrawn.value}`);
  if (!caller.random.chance(0.3)) return;
  known.most += count;
  if (
    (await tried(caller, "settle", () => limiter.settle(result, 0).then(() => true))) === undefined
  )
    return;
  known.least += count;
}

/** No call is in flight, except calls whose answers were lost. */
async function look(caller: Caller, limiter: Limiter, key: string, known: Known): Promise<void> {
  const read = () =>
    Promise.all([limiter.getValue("plan", { key }), limiter.getValue("credits", { key })]);
  const values = await tried(caller, "getValue", read);
  if (values === undefined || caller.hasLost()) return;
  const held = values.map(({ value }) => value);
  const sum = held[0]! + held[1]!;
  if (Math.min(...held) < 0) caller.report(`credits below zero: ${held.join(" and ")}`);
  if (sum >= known.least && sum <= known.most) return;
  caller.report(`plan and credits hold ${sum}, and not ${known.least} to ${known.most}`);
}

/** @returns `undefined` if the store failed. */
async function tried<TResult>(
  caller: Caller,
  what: string,
  call: () => Promise<TResult>,
): Promise<TResult | undefined> {
  caller.tally.note(what);
  try {
    return await caller.timed(what, 4000, call);
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    caller.failed(error, what);
    return undefined;
  }
}
