/**
 * A process that runs recorded operations on a database and prints each as a line of JSON when it begins, and as
 * another one when it has ended. It says
 * that it is ready, begins when it is told to, and goes on until its input ends. Arguments: the
 * kind of store, the database's URL, its own number, how many callers, the limiter's `timeout` in ms,
 * the instant from which to count time, and the store's isolation, if it is not the default.
 */
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { openStore, type StoreKind } from "../support/open-store.js";
import { frozenLimiter, record } from "./recorder.js";

const [kind, url = "", number = "", callers = "", timeout = "", origin = "", isolation] =
  process.argv.slice(2);
const options = isolation === "serializable" ? ({ isolation } as const) : {};
const { store, run, close } = openStore(kind as StoreKind, url, options);
const limiter = frozenLimiter(store, Number(timeout));

await run("SELECT 1");
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
  // What has begun is told at once, so that it is known of a process that is killed.
  begin: (id, operation) => console.log(JSON.stringify({ id, ...operation })),
  write: (operation, id) => console.log(JSON.stringify({ id, ended: true, ...operation })),
  async goesOn() {
    // SQLite answers without ever leaving the thread to anybody else, such as the input.
    await setImmediate();
    return !ended;
  },
  afterFailure: () => setTimeout(200),
});
await close();
