/**
 * A process whose limiter has overrides. The process runs the commands on the lines of its input, one
 * after the other, and prints a line of JSON for each. Times are in ms, of a clock that all processes of
 * a machine share.
 *
 * Arguments: the kind of store, the database's URL, `overridesFor` in ms, and `channel` for notifications
 * of PostgreSQL.
 */
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { createRateLimiter, DAY, postgresChannel } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind = "", url = "", overridesFor = "", hasChannel] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const channel =
  hasChannel === "channel"
    ? postgresChannel(() => new pg.Client({ connectionString: url }))
    : undefined;
const limiter = createRateLimiter({
  store,
  limits: { many: { kind: "token bucket", rate: 1e6, period: DAY } },
  overrides: true,
  overridesFor: Number(overridesFor),
  timeout: 10_000,
  ...(channel && { channel }),
});
const now = () => Number(process.hrtime.bigint()) / 1e6;
const user = { key: "user" };

/** Calls until the answer is `ok`. `lastAt` is when the last call with the other answer was sent. */
async function until(ok: boolean) {
  let lastAt: number | undefined;
  for (;;) {
    const startedAt = now();
    if ((await limiter.limit("many", user)).ok === ok) return { ok, lastAt };
    lastAt = startedAt;
    await setTimeout(2);
  }
}

const acts: Record<string, () => Promise<object>> = {
  limit: () => limiter.limit("many", user),
  "limit until denied": () => until(false),
  "limit until granted": () => until(true),
  async block() {
    await limiter.overrides.set("many", { ...user, blocked: true });
    return { doneAt: now() };
  },
  async clear() {
    await limiter.overrides.clear("many", user);
    return { doneAt: now() };
  },
  async get() {
    return { isBlocked: (await limiter.overrides.get("many", user)) !== undefined };
  },
  /** Runs until the process is killed. */
  async "block and clear"() {
    console.log("{}");
    for (;;) {
      await limiter.overrides.set("many", { ...user, blocked: true });
      await limiter.overrides.clear("many", user);
    }
  },
};

// The first query of a client can take seconds on a busy machine.
await run("SELECT 1");
for await (const line of createInterface(process.stdin)) {
  console.log(JSON.stringify(await acts[line]!()));
}
await channel?.close();
await close();
