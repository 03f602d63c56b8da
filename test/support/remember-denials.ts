/**
 * A process that remembers denials. The process runs the commands on the lines of its input, one after
 * the other, and prints a line of JSON for each. Times are in ms, of a clock that all processes of a
 * machine share.
 *
 * Arguments: the kind of store, the database's URL, `rememberDenials` in ms, and `channel` for
 * notifications of PostgreSQL.
 */
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import pg from "pg";
import { createRateLimiter, DAY, postgresChannel } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind = "", url = "", rememberDenials = "", hasChannel] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const channel =
  hasChannel === "channel"
    ? postgresChannel(() => new pg.Client({ connectionString: url }))
    : undefined;
const limiter = createRateLimiter({
  store,
  limits: { few: { kind: "token bucket", rate: 5, period: 1000 * DAY } },
  rememberDenials: Number(rememberDenials),
  ...(channel && { channel }),
});
const now = () => Number(process.hrtime.bigint()) / 1e6;

const acts = {
  limit: () => limiter.limit("few"),
  /**
   * Calls until a call is granted. `lastKnownAt` is when the last call began that was denied from memory.
   */
  async "limit until granted"() {
    let lastKnownAt: number | undefined;
    for (;;) {
      const startedAt = now();
      const result = await limiter.limit("few");
      if (result.ok) return { ok: true, lastKnownAt };
      if (result.remembered) lastKnownAt = startedAt;
      // An answer from memory waits for no I/O, so give the process time to read answers of the database.
      await setImmediate();
    }
  },
  async reset() {
    await limiter.reset("few");
    return { doneAt: now() };
  },
};

// The first query of a client can take seconds on a busy machine.
await run("SELECT 1");
for await (const line of createInterface(process.stdin)) {
  console.log(JSON.stringify(await acts[line as keyof typeof acts]()));
}
await channel?.close();
await close();
