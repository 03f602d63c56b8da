/**
 * A process whose callers take as many tokens as fit, until none are left. The process does so for each
 * key that it reads. The process prints what each call was granted, and "done".
 *
 * Arguments: the kind of store, the database's URL, and the number of callers.
 */
import { createInterface } from "node:readline";
import { createRateLimiter, DAY } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

export const limits = {
  tokens: { kind: "token bucket", rate: 1009, period: 1000 * DAY },
} as const;

/** What each caller wants: a part of the calls find fewer tokens. */
export const COUNTS = [1, 7, 50, 3];

async function main([kind = "", url = "", callers = "1"]: readonly string[]): Promise<void> {
  const { store, close } = openStore(kind as StoreKind, url);
  // All processes have the same fixed time, so nothing refills.
  const limiter = createRateLimiter({ store, limits, timeout: 20_000, clock: () => DAY });
  // Connect before the calls. The first query of a client can take seconds on a busy machine.
  await limiter.check("tokens");
  console.log("ready");

  async function caller(key: string, index: number): Promise<void> {
    for (let call = 0; ; call++) {
      const count = COUNTS[(index + call) % COUNTS.length]!;
      // An odd caller's calls have ids.
      const id = index % 2 === 1 && { once: `${process.pid} ${index} ${call}` };
      const result = await limiter.limit("tokens", { key, count, atLeast: 1, ...id });
      if (!result.ok) return;
      console.log(JSON.stringify([count, result.granted]));
    }
  }

  for await (const key of createInterface(process.stdin)) {
    await Promise.all(Array.from({ length: Number(callers) }, (_, index) => caller(key, index)));
    console.log("done");
  }
  await close();
  process.exit();
}

if (process.argv[1] === import.meta.filename) await main(process.argv.slice(2));
