/**
 * A process whose callers pay from a plan and then from credits until both are used up. The process does
 * so for each key that it reads. The process prints what each call paid, and "done".
 *
 * Arguments: the kind of store, the database's URL, and the number of callers.
 */
import { createInterface } from "node:readline";
import { createRateLimiter, DAY } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

export const limits = {
  plan: { kind: "token bucket", rate: 37, period: 1000 * DAY },
  credits: { kind: "credits" },
} as const;

async function main([kind = "", url = "", callers = "1"]: readonly string[]): Promise<void> {
  const { store, close } = openStore(kind as StoreKind, url);
  // All processes have the same fixed time, so nothing refills.
  const limiter = createRateLimiter({ store, limits, timeout: 20_000, clock: () => DAY });
  // Connect before the calls. The first query of a client can take seconds on a busy machine.
  await limiter.check("plan");
  console.log("ready");

  async function caller(key: string, index: number): Promise<void> {
    for (;;) {
      const options = { key, count: index % 2 === 0 ? 1 : 3, split: true };
      const result = await limiter.limitFirst(["plan", "credits"], options);
      // A caller of three tokens ends here. A caller of one token may still find one.
      if (!result.ok) return;
      console.log(JSON.stringify(result.paid));
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
