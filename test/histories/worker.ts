/**
 * A process that runs recorded operations on a database. The process prints each operation as a line of
 * JSON when the operation begins, and again when it ends. The process prints `ready`, starts at the first
 * input and stops at the end of its input.
 *
 * Arguments: the kind of store, the database's URL, the number of this process, the number of callers,
 * the limiter's `timeout` in ms, the time origin in ns, the store's isolation, how far this process's
 * clock jumps to and fro in ms, and when a window of its limiter starts.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { setImmediate, setTimeout } from "node:timers/promises";
import { openStore, type StoreKind } from "../support/open-store.js";
import { frozenLimiter, record, hourlyLimiter } from "./recorder.js";

const [
  kind,
  url = "",
  number = "",
  callers = "",
  timeout = "",
  origin = "",
  isolation,
  skew = "",
  start,
] = process.argv.slice(2);
const options = isolation === "serializable" ? ({ isolation } as const) : {};
const { store, run } = openStore(kind as StoreKind, url, options);
const limiter =
  skew === "" ? frozenLimiter(store, Number(timeout)) : hourlyLimiter(store, Number(start));
if (skew !== "") letClockJump(Number(skew));

await run("SELECT 1");
print("ready");
await once(process.stdin, "data");
let isStopped = false;
process.stdin.once("end", () => (isStopped = true));

await record(limiter, {
  process: number,
  seed: Number(number),
  callers: Number(callers),
  // This is CLOCK_MONOTONIC, which all processes of a machine share.
  clock: () => Number(process.hrtime.bigint() - BigInt(origin)),
  // Print each start at once. The operations of a killed process are then known.
  begin: (id, operation) => print(JSON.stringify({ id, ...operation })),
  write: (operation, id) => print(JSON.stringify({ id, ended: true, ...operation })),
  async shouldContinue() {
    // Yield to the event loop. SQLite never yields, so the process would not notice the end of its input.
    await setImmediate();
    return !isStopped;
  },
  // Each failed operation may have taken effect, or may still do so, and makes the search for an order
  // longer. So a caller slows down while its node is down.
  afterFailure: (failures) => setTimeout(Math.min(100 * 2 ** failures, 3000)),
});
// The pool of `mariadb` can keep the process of a busy machine after it was ended.
process.exit();

/**
 * Only this package sees the clock jump. The pool of mariadb measures with `Date.now` how long a query
 * has waited for a connection. If it saw the jumps, it would reject queries that have waited for a
 * millisecond.
 */
function letClockJump(ms: number): void {
  const { now } = Date;
  Date.now = () => {
    const [, , caller] = new Error().stack!.split("\n");
    const jumps = !caller!.includes("/node_modules/") && Math.random() < 0.5;
    return jumps ? now() + ms : now();
  };
}

/**
 * Prints before it returns. `console.log` keeps lines in this process while the reader is slow. A kill
 * would lose these lines, and operations would have taken effect that are not in the history.
 */
function print(line: string): void {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
