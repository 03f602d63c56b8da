/**
 * A process of its own that calls one limit on a SQLite file as fast as it can, and prints how many
 * calls passed. Arguments: the file's URL, how many calls, how many of them at once.
 */
import { createRateLimiter, DAY, prismaStore } from "../../server/index.js";
import { connectSqlite } from "./clients.js";

const [url = "", calls = "0", atOnce = "1"] = process.argv.slice(2);
const prisma = connectSqlite(url);
const limiter = createRateLimiter({
  store: prismaStore(prisma),
  timeout: 30_000,
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
