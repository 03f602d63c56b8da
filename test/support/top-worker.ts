/**
 * A process whose calls are denied, and that an operator may ask for its keys, until it is killed. Its
 * usage of the first calls is written, and that of the later ones is not.
 *
 * Arguments: the URL, how many calls of each limit are written, and how many more there are.
 */
import pg from "pg";
import { postgresChannel } from "../../server/index.js";
import { openAdmin } from "./admin-caller.js";
import { openStore } from "./open-store.js";
import { KEY, TOP_LIMITS } from "./top-limits.js";

const [url, written, more] = process.argv.slice(2) as [string, string, string];

const { store } = openStore("pg", url, { connections: 4 });
const channel = postgresChannel(() => new pg.Client({ connectionString: url }));
// Usage is written only by the flush below.
const { limiter } = openAdmin(store, TOP_LIMITS, { channel, flushUsage: 1e9, timeout: 30_000 });

async function call(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await limiter.limit("counted", { key: KEY });
    await limiter.limit("plain", { key: KEY });
  }
}

await call(Number(written));
await limiter.flushUsage();
await call(Number(more));
process.stdout.write("ready\n");
