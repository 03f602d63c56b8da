/**
 * Callers of all processes that hold slots of the same limit, for a while or until they are told that
 * their slot is lost. Some wait in line, and some give up. At no instant may more callers hold a slot
 * than there are slots.
 */
import type { ConcurrencyConfig, EnterGranted, RateLimiter } from "../../../server/index.js";
import type { Process } from "../process.js";
import { createRandom } from "../random.js";
import { type Caller, isStoreFailure, type Workload } from "./context.js";

const CONFIGS = [
  { kind: "concurrency", slots: 1, ttl: 1000 },
  { kind: "concurrency", slots: 2, ttl: 1000 },
  { kind: "concurrency", slots: 3, ttl: 1500 },
] as const satisfies ConcurrencyConfig[];

/** A slot that a caller has held, or still holds. The times are those of the simulation, ms. */
export interface Held {
  process: Process;
  from: number;
  /** When the slot was released, or its signal was aborted. */
  to: number;
}

/** The limit, which is the same for all processes of a seed, so that they want the same slots. */
export function configOf(seed: number): (typeof CONFIGS)[number] {
  return createRandom(seed ^ 0x510e527f).pick(CONFIGS);
}

export function createSlots(held: Held[], seed: number): Workload {
  const config = configOf(seed);
  const limits = {
    slots: config,
    tokens: { kind: "token bucket", rate: 40, period: 1000 },
  } as const;
  return async (caller: Caller) => {
    const { member, random } = caller;
    const limiter = member.limiter(limits as never) as unknown as RateLimiter<typeof limits>;
    while (caller.isOn()) {
      const slot = await tried(caller, () => enter(caller, limiter, config.ttl));
      if (slot?.ok) await hold(caller, slot, held, config.ttl);
      if (random.chance(0.05)) await tried(caller, () => limiter.prune());
      await member.sleep(random.below(config.ttl / 8));
    }
  };
}

type Limiter = RateLimiter<{
  slots: ConcurrencyConfig;
  tokens: { kind: "token bucket"; rate: number; period: number };
}>;

async function enter({ member, random, timed, tally }: Caller, limiter: Limiter, ttl: number) {
  const maxWait = random.chance(0.5) ? random.below(3 * ttl) : undefined;
  const gaveUp = new Error("the caller has given up");
  const controller = new AbortController();
  if (maxWait !== undefined && random.chance(0.2)) {
    void member.sleep(random.below(maxWait)).then(() => controller.abort(gaveUp));
  }
  const withTokens = random.chance(0.2) && { with: [{ name: "tokens" as const }] };
  const options = {
    signal: controller.signal,
    ...(maxWait !== undefined && { maxWait }),
    ...withTokens,
  };
  tally.note(maxWait === undefined ? "enter" : "enter, or wait");
  try {
    // After the wait, three steps may each take long: a last look, taking the slot, and giving the seat
    // or slot up.
    const most = maxWait === undefined ? 8000 : maxWait + 20_000;
    return await timed("enter", most, () => limiter.enter("slots", options));
  } catch (error) {
    if (error !== gaveUp) throw error;
    return undefined;
  }
}

async function hold(
  { member, random, timed, timeline }: Caller,
  slot: EnterGranted,
  all: Held[],
  ttl: number,
): Promise<void> {
  const held: Held = { process: member.process, from: timeline.now, to: Infinity };
  all.push(held);
  const isLost = new Promise<void>((resolve) => {
    slot.signal.addEventListener("abort", () => {
      held.to = Math.min(held.to, timeline.now);
      resolve();
    });
  });
  await Promise.race([member.sleep(random.below(random.pick([20, ttl, 3 * ttl]))), isLost]);
  // A late caller must not free the slot of another caller.
  if (slot.signal.aborted && random.chance(0.8)) await member.sleep(random.below(2 * ttl));
  held.to = Math.min(held.to, timeline.now);
  await timed("release", 8000, () => slot.release());
}

/** @returns `undefined` if the store failed. */
async function tried<TResult>(
  caller: Caller,
  call: () => Promise<TResult>,
): Promise<TResult | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
    // A process that stood still is told so. Callers that want the rows of its line may wait too long.
    const isLate = /after the ttl|did not answer within/.test((error as Error).message);
    if (!isLate) caller.failed(error, "enter");
    return undefined;
  }
}

/** The problem of the slots. A caller does nothing with a slot while its process stands still. */
export function problemOf(all: readonly Held[], slots: number): string | undefined {
  const changes = all
    .flatMap((held) => runningTimes(held))
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    // At one instant, callers that leave come first.
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let holders = 0;
  for (const { at, by } of changes) {
    holders += by;
    if (holders > slots) return `${holders} callers hold ${slots} slots at ${at.toFixed(2)} ms`;
  }
  return undefined;
}

/** The times at which a holder could run. */
function runningTimes({ process, from, to }: Held): { from: number; to: number }[] {
  let times = [{ from, to }];
  for (const stop of process.stops) {
    times = times.flatMap((time) => [
      { from: time.from, to: Math.min(time.to, stop.from) },
      { from: Math.max(time.from, stop.to), to: time.to },
    ]);
    times = times.filter((time) => time.from < time.to);
  }
  return times;
}
