/**
 * A process of its own that calls one limit on a database as fast as it can, and prints how many
 * calls passed. Arguments: the kind of store and the database's URL, how many calls, how many at once.
 */
import { createRateLimiter, DAY } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind = "", url = "", calls = "0", atOnce = "1"] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const limiter = createRateLimiter({
  store,
  limits: { hammered: { kind: "token bucket", rate: 37, period: 1000 * DAY } },
});

// A new client's first query compiles and connects, which can take a busy machine seconds.
await run("SELECT 1");

let passed = 0;
let left = Number(calls);
async function caller(): Promise<void> {
  while (left-- > 0) if ((await limiter.limit("hammered", { key: "one" })).ok) passed++;
}
await Promise.all(Array.from({ length: Number(atOnce) }, caller));
await close();
console.log(passed);
