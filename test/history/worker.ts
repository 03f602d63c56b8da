/**
 * A process that runs recorded operations on a database and prints each as a line of JSON. It says
 * that it is ready, begins when it is told to, and goes on until its input ends. Arguments: the
 * provider, the database's URL, its own number, how many callers, the limiter's `timeout` in ms,
 * the instant from which to count time, and the store's isolation, if it is not the default.
 */
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { prismaStore, type RateLimitStore } from "../../server/index.js";
import { connectors, type Provider } from "../support/clients.js";
import { frozenLimiter, record } from "./recorder.js";

const [provider, url = "", number = "", callers = "", timeout = "", origin = "", isolation] =
  process.argv.slice(2);
const client = connectors[provider as Provider](url);
const options = isolation === "serializable" ? ({ isolation } as const) : {};
const limiter = frozenLimiter(prismaStore(client, options) as RateLimitStore, Number(timeout));

await client.$queryRaw`SELECT 1`;
console.log("ready");
await once(process.stdin, "data");
let ended = false;
process.stdin.once("end", () => (ended = true));

await record(limiter, {
  process: number,
  seed: Number(number),
  callers: Number(callers),
  // CLOCK_MONOTONIC, which all processes of a machine share.
  clock: () => Number(process.hrtime.bigint() - BigInt(origin)),
  write: (operation) => console.log(JSON.stringify(operation)),
  async goesOn() {
    // SQLite answers without ever leaving the thread to anybody else, such as the input.
    await setImmediate();
    return !ended;
  },
  afterFailure: () => setTimeout(200),
});
await client.$disconnect();
