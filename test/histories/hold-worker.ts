/**
 * A process that calls limits with holds, and prints each call as a line of JSON. The process starts at
 * the first input, and stops at the end of its input. Its one argument contains its options.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createRateLimiter, mysqlStore, pgStore, type RateLimitStore } from "../../server/index.js";
import { redisStore } from "../../server/redis/index.js";
import { createRandom } from "../simulation/random.js";
import { HoldCaller, type HoldScope } from "./hold-caller.js";
import { holdLimits } from "./hold-limits.js";
import type { HoldAnswer, HoldCall } from "./hold-model.js";
import { reportClockError } from "./report-clock-error.js";

export interface HoldWorkerOptions {
  /** The URL of the server. For Redis, it has the prefix of the rows as a parameter. */
  url: string;
  seed: number;
  callers: number;
  /** The capacity of each limit. */
  capacity: number;
  /** How many ids each bucket has. */
  ids: number;
  /** For how long a bucket is the newest, ms. */
  every: number;
  /** How long holds last, ms. */
  lasts: readonly number[];
  /** By how much the clock of the process is ahead, ms. */
  ahead: number;
  /** Whether some of the calls are in transactions. */
  transacts: boolean;
}

const options = JSON.parse(process.argv[2]!) as HoldWorkerOptions;
const { url, seed, callers, capacity, ahead, transacts } = options;
const random = createRandom(seed);
const trueNow = Date.now;
Date.now = () => trueNow() + ahead;

const { store, run } = await open();
const limiter = createRateLimiter({ store, limits: holdLimits(capacity).configs });
// The first answer may be lost, too. Before its first answer, a process knows no clock but its own.
await run().catch(() => {});
while (!(await limiter.getValue("window").catch(() => undefined))) await sleep(10);
console.log("ready");
reportClockError(store);
await once(process.stdin, "data");
let isOn = true;
process.stdin.once("end", () => (isOn = false));

const ids = new Map<HoldCall, number>();
let lastId = 0;
/** Writes to a pipe at once, so that the calls that a killed process has begun are known. */
function print(call: HoldCall, isUndone = false): void {
  const id = ids.get(call) ?? ++lastId;
  if (call.end === Infinity) ids.set(call, id);
  if (call.end < Infinity || isUndone) ids.delete(call);
  process.stdout.write(`${JSON.stringify([id, isUndone ? null : call])}\n`);
}

const rolledBack = new Error("the application rolls back");

async function around(
  _: string,
  call: (scope: HoldScope) => Promise<HoldAnswer>,
): Promise<HoldAnswer | undefined> {
  if (!transacts || random.chance(0.85)) return call(limiter);
  const rollsBack = random.chance(0.4);
  try {
    return await limiter.transaction(async (scope) => {
      const answer = await call(scope as unknown as HoldScope);
      if (rollsBack) throw rolledBack;
      return answer;
    });
  } catch (error) {
    // A call that was rolled back has no effect. If the store failed before the rollback, nothing was
    // committed, so the call has no effect, either.
    if (error === rolledBack || (rollsBack && isStoreFailure(error))) return undefined;
    throw error;
  }
}

async function callOnAndOn(caller: string): Promise<void> {
  const holding = new HoldCaller({
    ...options,
    limiter,
    random: random.fork(),
    caller,
    // Times are whole ms: a call's instant is between this time and the next ms.
    clock: { before: trueNow, after: () => trueNow() + 1 },
    around,
    write: (call) => print(call),
    undo: (call) => print(call, true),
  });
  while (isOn) {
    await holding.call().catch(async (error: unknown) => {
      if (!isStoreFailure(error)) throw error;
      await sleep(100);
    });
    await sleep(random.below(10));
  }
}

/** Loads only one client, because processes are started many times. */
async function open(): Promise<{ store: RateLimitStore; run: () => Promise<unknown> }> {
  const { protocol, host, searchParams } = new URL(url);
  if (protocol === "postgresql:") {
    const { default: pg } = await import("pg");
    const pool = new pg.Pool({ connectionString: url, max: 3 });
    // An idle connection emits an error when it ends. Ignore it.
    pool.on("error", () => {});
    return { store: pgStore(pool) as RateLimitStore, run: () => pool.query("SELECT 1") };
  }
  if (protocol === "redis:") {
    const { Redis } = await import("ioredis");
    const client = new Redis(`redis://${host}`);
    const prefix = searchParams.get("prefix")!;
    return { store: redisStore(client, { prefix }) as RateLimitStore, run: () => client.ping() };
  }
  const { default: mysql2 } = await import("mysql2/promise");
  const pool = mysql2.createPool({ uri: url, connectionLimit: 3 });
  return { store: mysqlStore(pool) as RateLimitStore, run: () => pool.query("SELECT 1") };
}

const isStoreFailure = (error: unknown): boolean =>
  (error as { kind?: unknown } | null)?.kind === "StoreFailure";

const all = Array.from({ length: callers }, (_, i) => callOnAndOn(`caller ${seed} ${i}`));
await Promise.all(all);
process.exit();
