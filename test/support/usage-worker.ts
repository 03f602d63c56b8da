/**
 * A process that takes tokens of a limit and writes its usage now and then, until it is killed. The
 * process prints how many of its calls are answered, and how many of the answered calls are written.
 *
 * Arguments: the kind of store, its URL, and the key.
 */
import { createRateLimiter } from "../../server/index.js";
import { nextTick } from "../../server/timers/next-tick.js";
import { openStore, type StoreKind } from "./open-store.js";
import { USAGE_LIMITS } from "./usage-limits.js";

const [kind, url, key] = process.argv.slice(2) as [StoreKind, string, string];

const { store } = openStore(kind, url, { connections: 4 });
// Usage is written only by the flushes below, so that the written part is known by calls and not by the
// time.
const limiter = createRateLimiter({
  store,
  limits: USAGE_LIMITS,
  flushUsage: 1e9,
  timeout: 30_000,
});

let answered = 0;

async function flush(): Promise<void> {
  for (;;) {
    const counted = answered;
    await limiter.flushUsage();
    process.stdout.write(`written ${counted}\n`);
    await nextTick();
  }
}

async function call(): Promise<void> {
  for (;;) {
    await limiter.limit("tokens", { key });
    answered++;
    process.stdout.write(`answered ${answered}\n`);
    // Without this, a synchronous client would let no other work of this process run.
    await nextTick();
  }
}

await limiter.check("tokens", { key });
process.stdout.write("ready\n");
await Promise.all([call(), call(), call(), flush()]);
