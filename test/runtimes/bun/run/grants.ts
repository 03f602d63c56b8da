/**
 * A process that calls one limit with eight callers, until it was denied often enough. The process prints
 * a line when it is ready, and begins at its first input. For each grant it prints a dot at once, so that
 * the grants of a killed process are known. Arguments: the kind of store, the database's URL, the
 * capacity, and how many denials are enough.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createRateLimiter, DAY } from "../../../../server/index.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";

const [kind = "", url = "", capacity = "0", denials = "0"] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const limiter = createRateLimiter({
  store,
  limits: { one: { kind: "token bucket", rate: Number(capacity), period: 100_000 * DAY } },
  // A lock of the killed process may have to time out first.
  timeout: 30_000,
});
await run("SELECT 1");
writeSync(1, "\n");
await once(process.stdin, "data");
let left = Number(denials);
async function caller(): Promise<void> {
  while (left > 0) {
    if ((await limiter.limit("one")).ok) writeSync(1, ".");
    else left--;
  }
}
await Promise.all(Array.from({ length: 8 }, caller));
await close();
// Otherwise, the process would go on reading its input.
process.exit(0);
