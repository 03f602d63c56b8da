/**
 * The race of the demo without its processes and its database: two callers run in this worker. Each limiter
 * uses a table in memory, and both tables answer equally late. The limiters are those of the demo.
 */
import type { RateLimitStore } from "trpc-rate-limit/server";
import { ALLOWED } from "../../example-app/shared/race-size.js";
import { makeCalls, type Tick } from "../../example-app/race/make-calls.js";
import { naiveLimit } from "../../example-app/race/naive.js";
import { type Race, resultOf } from "../../example-app/race/result.js";

/** The methods of the limiter that a race uses, see `RateLimiter`. */
export interface RaceLimiter {
  limit(name: "race", options: { key: string }): Promise<{ ok: boolean }>;
  getValue(name: "race", options: { key: string }): Promise<{ value: number }>;
  reset(name: "race", options: { key: string }): Promise<unknown>;
}

const pause = () => new Promise<void>((resolve) => setTimeout(resolve));
let races = 0;

export async function raceInMemory(limiter: RaceLimiter, of: string, tick: Tick): Promise<Race> {
  const key = `${of} ${++races}`;
  const table = createTable();
  const race = async (allow: () => Promise<boolean>, taken: () => Promise<number>) =>
    resultOf(
      await Promise.all(
        [1, 2].map(async (pid) => ({
          pid,
          calls: await makeCalls(allow, tick === "each" ? pause : undefined),
        })),
      ),
      await taken(),
    );
  try {
    return {
      naive: await race(
        () => naiveLimit(table.client, key),
        async () => table.count,
      ),
      package: await race(
        async () => (await limiter.limit("race", { key })).ok,
        async () => Math.round(ALLOWED - (await limiter.getValue("race", { key })).value),
      ),
    };
  } finally {
    await limiter.reset("race", { key });
  }
}

/**
 * A store that answers as late as the table of the naive limiter: each decision is on its way first.
 *
 * @param store a store without `submit`, by which calls would go past the delay.
 */
export function farStore<TTransaction>(
  store: Omit<RateLimitStore<TTransaction>, "submit">,
): RateLimitStore<TTransaction> {
  return {
    ...store,
    async apply(decisions, call) {
      await pause();
      return store.apply(decisions, call);
    },
  };
}

type Client = Parameters<typeof naiveLimit>[0];

/** A table with one row. The table answers later, as every database does. */
function createTable() {
  const row = { count: 0, resetAt: new Date(8.64e15) };
  const calls = {
    async findUnique() {
      await pause();
      return { ...row };
    },
    async update({ data }: { data: { count: { increment: number } } }) {
      await pause();
      row.count += data.count.increment;
    },
  };
  return {
    client: { naiveLimit: calls } as unknown as Client,
    get count() {
      return row.count;
    },
  };
}
