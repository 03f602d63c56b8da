/**
 * A process that calls one limit as fast as it can, and prints the number of grants. Arguments: the
 * kind of store, the database's URL, the number of calls and the number of callers.
 */
import { createRateLimiter, DAY } from "../../server/index.js";
import { retryConflicts } from "../../server/store/retry-conflicts.js";
import { isBusy } from "../../server/store/sql/sqlite/errors.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind = "", url = "", calls = "0", callers = "1"] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const limiter = createRateLimiter({
  store,
  limits: { hammered: { kind: "token bucket", rate: 37, period: 1000 * DAY } },
});

// Connect before the calls. The first query of a client can take seconds on a busy machine.
// On a SQLite file without WAL, another process may be writing for that time.
await retryConflicts(() => run("SELECT 1"), { isConflict: isBusy });

let granted = 0;
let remainingCalls = Number(calls);
async function caller(): Promise<void> {
  while (remainingCalls-- > 0) if ((await limiter.limit("hammered", { key: "one" })).ok) granted++;
}
await Promise.all(Array.from({ length: Number(callers) }, caller));
await close();
console.log(granted);
