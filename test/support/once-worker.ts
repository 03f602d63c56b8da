/**
 * A process that charges the same ids as other processes do at the same time, from the first id to the
 * last. The process sends each call again until the call has an answer. The process prints when its calls
 * are under way, so that a test can kill it before their answers come.
 *
 * Arguments: the kind of store, its URL, and the number of ids.
 */
import { createRateLimiter } from "../../server/index.js";
import { ONCE_LIMITS } from "./once-limits.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind, url, ids] = process.argv.slice(2) as [StoreKind, string, string];
/** How many calls are under way at a time. */
const AT_A_TIME = 10;
const key = "user";

const { store, close } = openStore(kind, url, { connections: 2 });
const limiter = createRateLimiter({ store, limits: ONCE_LIMITS, logger: false, timeout: 30_000 });

async function call(id: number): Promise<boolean> {
  const once = `id ${id}`;
  const answers =
    id % 3 === 0
      ? [await limiter.limit("one", { key, once })]
      : id % 3 === 1
        ? [await limiter.charge("one", { key, once })]
        : (
            await limiter.limitAll(
              [
                { name: "one", key },
                { name: "two", key },
              ],
              { once },
            )
          ).results;
  // All markers of a call are written together.
  const repeated = new Set(answers.map((answer) => "repeated" in answer));
  if (repeated.size !== 1) throw new Error(`id ${id} was charged in part`);
  return repeated.has(true);
}

async function untilAnswered(id: number): Promise<boolean> {
  for (;;) {
    try {
      return await call(id);
    } catch (error) {
      if ((error as Error).name !== "RateLimitStoreError") throw error;
    }
  }
}

await store.apply([]);
process.stdout.write("ready\n");
await new Promise((begin) => process.stdin.once("data", begin));
for (let from = 0; from < Number(ids); from += AT_A_TIME) {
  const some = Array.from({ length: Math.min(AT_A_TIME, Number(ids) - from) }, (_, i) => from + i);
  const calls = some.map(async (id) => ((await untilAnswered(id)) ? [] : [id]));
  process.stdout.write("sent\n");
  const charged = (await Promise.all(calls)).flat();
  process.stdout.write(`charged ${JSON.stringify(charged)}\n`);
}
process.stdout.write("done\n");
await close();
process.exit(0);
