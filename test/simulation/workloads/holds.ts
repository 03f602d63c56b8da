/**
 * Limits with holds, on the clock of the database. All processes take tokens under the same ids, and
 * settle or release each other's holds, inside of transactions and outside. At the end, all holds have
 * lapsed.
 */
import type { LimitConfigs, RateLimiter } from "../../../server/index.js";
import { bucketOf } from "../../histories/hold-verdict.js";
import { drain, HoldCaller, type HoldScope } from "../../histories/hold-caller.js";
import { holdLimits } from "../../histories/hold-limits.js";
import type { HoldAnswer, HoldCall } from "../../histories/hold-model.js";
import type { Scenario } from "../scenario.js";
import type { World } from "../simulate.js";
import { answers, type Caller, isStoreFailure, type Workload } from "./context.js";
import { ROLLED_BACK } from "./own-bucket.js";

/** The calls of holds, and what was left. */
export interface Holding {
  calls: HoldCall[];
  /** The tokens of each bucket at the end. */
  left: Map<string, number>;
}

const CAPACITY = 20;
export const HOLD_LIMITS = holdLimits(CAPACITY);
type Limiter = RateLimiter<typeof HOLD_LIMITS.configs>;

const IDS = 12;
/** For how long a bucket is the newest, ms. */
const EVERY = 1000;
/** How long holds last, ms. */
const LASTS = [60, 300, 900, 2500];
/** Keeps a seed short. */
const MOST_CALLS = 120;

export function createHolds(
  { calls }: Holding,
  { database }: Pick<Scenario, "database">,
): Workload {
  return async (caller: Caller) => {
    const { member, random, timeline } = caller;
    const limiter = limiterOf(member);
    // Before its first answer, a process knows no clock but its own.
    while (caller.isOn() && !(await answers(() => limiter.getValue("window")))) {
      await member.sleep(10);
    }
    const begun = new Set<HoldCall>();
    const callerOfHolds = new HoldCaller({
      limiter,
      random,
      capacity: CAPACITY,
      ids: IDS,
      caller: `${member.id} ${random.below(2 ** 31)}`,
      every: EVERY,
      lasts: LASTS,
      clock: { before: () => timeline.now, after: () => timeline.now },
      around: (what, call) => around(caller, limiter, what, call, database !== "postgresql"),
      write(call) {
        if (!begun.has(call)) calls.push(call);
        begun.add(call);
      },
      undo: (call) => void calls.splice(calls.indexOf(call), 1),
    });
    for (let i = 0; i < MOST_CALLS && caller.isOn(); i++) {
      try {
        await callerOfHolds.call();
        if (random.chance(0.02)) await caller.timed("prune", 20_000, () => limiter.prune());
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        if (!isConflict(error)) caller.failed(error, "holds");
      }
      if (random.chance(0.4)) await member.sleep(random.below(100));
    }
  };
}

async function around(
  caller: Caller,
  limiter: Limiter,
  what: string,
  call: (scope: HoldScope) => Promise<HoldAnswer>,
  hasSnapshots: boolean,
): Promise<HoldAnswer | undefined> {
  const { random, tally, timed } = caller;
  const dice = random.next();
  if (dice < 0.75) {
    tally.note(what);
    // The package retries a call that ends a hold for a while.
    return timed(what, what === "settle" || what === "release" ? 16_000 : 8000, () =>
      call(limiter),
    );
  }
  const rollsBack = random.chance(0.4);
  tally.note(`${what}, in a transaction`);
  try {
    return await (dice < 0.9
      ? timed(`${what} in a transaction`, 25_000, () =>
          limiter.transaction(async (scope) => {
            const answer = await call(scope as unknown as HoldScope);
            if (rollsBack) throw ROLLED_BACK;
            return answer;
          }),
        )
      : timed(`${what} with using`, 100_000, () =>
          join(caller, limiter, call, rollsBack, hasSnapshots),
        ));
  } catch (error) {
    // A call that was rolled back has no effect. If the store failed before the rollback, nothing was
    // committed, so the call has no effect, either.
    if (error === ROLLED_BACK || (rollsBack && isStoreFailure(error))) return undefined;
    throw error;
  }
}

/** A call in a transaction that the application owns. */
async function join(
  { member }: Caller,
  limiter: Limiter,
  call: (scope: HoldScope) => Promise<HoldAnswer>,
  rollsBack: boolean,
  hasSnapshots: boolean,
): Promise<HoldAnswer> {
  const client = await member.borrow();
  let broken: Error | undefined;
  try {
    await client.begin();
    const answer = await call(limiter.using(client.tx) as unknown as HoldScope);
    await (rollsBack ? client.rollback() : client.commit());
    // MySQL's snapshot there may lack a row that another transaction has inserted meanwhile, although the
    // rows beside it are new. An answer that rests on both is not guarded if it writes nothing.
    const isUnguarded = answer.reason !== undefined && hasSnapshots;
    if (rollsBack || isUnguarded) throw ROLLED_BACK;
    return answer;
  } catch (error) {
    if (error === ROLLED_BACK) throw error;
    broken = error as Error;
    if (isStoreFailure(error)) throw error;
    throw Object.assign(new Error("the application's connection", { cause: error }), {
      kind: "StoreFailure",
    });
  } finally {
    client.release(broken);
  }
}

/**
 * Whether a transaction of the application has failed with a conflict, which the application must retry.
 */
function isConflict(error: unknown): boolean {
  const { cause } = error as { cause?: { message?: string; errno?: number } };
  return cause?.errno === 1213 || /retry the transaction/.test(cause?.message ?? "");
}

/** When no fault happens any more, and all holds have lapsed: reads what each bucket has left. */
export function drainHolds({ members, holding, problems }: World): void {
  const [member] = members.running;
  const buckets = new Map(holding.calls.map((call) => [bucketOf(call), call]));
  if (member === undefined || buckets.size === 0) return;
  const limiter = limiterOf(member);
  const drainAll = async () => {
    for (const [bucket, { name, key }] of buckets) {
      for (let tries = member.pool.max; ; tries--) {
        try {
          holding.left.set(bucket, await drain(limiter, { name, key, count: CAPACITY }));
          break;
        } catch (error) {
          if (tries > 0 && isStoreFailure(error)) continue;
          return void problems.push(`${bucket} does not answer at the end: ${String(error)}`);
        }
      }
    }
  };
  member.process.read(() => void drainAll());
}

function limiterOf(member: Pick<Caller["member"], "limiter">): Limiter {
  return member.limiter(HOLD_LIMITS.configs as unknown as LimitConfigs) as unknown as Limiter;
}
