/**
 * A process that ends the same holds as other processes do at the same time, and takes tokens meanwhile.
 * The process prints which holds it has ended itself, and how many tokens it took.
 *
 * Arguments: the kind of store, its URL, the number of ids, and the number of this process.
 */
import { createRateLimiter } from "../../server/index.js";
import { HELD_LIMITS, limitOfId } from "./held-limits.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind, url, ids, own] = process.argv.slice(2) as [StoreKind, string, string, string];
/** How many calls are under way at a time. */
const AT_A_TIME = 10;
const key = "user";

const { store, close } = openStore(kind, url, { connections: 3 });
const limiter = createRateLimiter({ store, limits: HELD_LIMITS, logger: false, timeout: 30_000 });
const taken = { quota: 0, credits: 0 };
const ended: Record<string, "settled" | "released"> = {};

async function end(id: number): Promise<void> {
  const name = limitOfId(id);
  const once = `id ${id}`;
  if ((id + Number(own)) % 2 === 0) {
    const { settled } = await limiter.settle(name, { key, once }, 2);
    if (settled) ended[id] = "settled";
  } else {
    const { released } = await limiter.release(name, { key, once });
    if (released) ended[id] = "released";
  }
}

await store.apply([]);
process.stdout.write("ready\n");
await new Promise((begin) => process.stdin.once("data", begin));
for (let from = 0; from < Number(ids); from += AT_A_TIME) {
  const some = Array.from({ length: AT_A_TIME }, (_, i) => from + i);
  const calls = some.map(end);
  for (const name of ["quota", "credits"] as const) {
    const [granted] = await Promise.all([
      limiter.limit(name, { key }),
      // This call is denied, so it ends holds that have lapsed.
      limiter.limit(name, { key, count: 1_000_000 }),
    ]);
    if (granted.ok) taken[name]++;
  }
  await Promise.all(calls);
}
process.stdout.write(`ended ${JSON.stringify({ taken, ended })}\n`);
await close();
process.exit(0);
