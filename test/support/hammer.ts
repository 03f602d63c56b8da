/**
 * A process of its own that calls one limit on a database as fast as it can, and prints how many
 * calls passed. Arguments: the database's provider and URL, how many calls, how many at once.
 */
import { createRateLimiter, DAY, prismaStore, type RateLimitStore } from "../../server/index.js";
import { connectors, type Provider } from "./clients.js";

const [provider = "", url = "", calls = "0", atOnce = "1"] = process.argv.slice(2);
const prisma = connectors[provider as Provider](url);
const limiter = createRateLimiter({
  store: prismaStore(prisma) as RateLimitStore,
  // What counts here is how many pass, also on a machine that has a lot else to do.
  timeout: 10_000,
  limits: { hammered: { kind: "token bucket", rate: 37, period: 1000 * DAY } },
});

let passed = 0;
let left = Number(calls);
async function caller(): Promise<void> {
  while (left-- > 0) if ((await limiter.limit("hammered", { key: "one" })).ok) passed++;
}
await Promise.all(Array.from({ length: Number(atOnce) }, caller));
await prisma.$disconnect();
console.log(passed);
