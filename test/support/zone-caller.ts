/**
 * A process that uses up each window of a limit in a time zone, one after the other. The process prints,
 * as JSON, the grants of each window and the time zone of the process itself. Arguments: the kind of
 * store, the database's URL, the limit's period, an instant in the first window, and an instant after the
 * start of the last window.
 */
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

const [kind = "", url = "", period = "", from = "0", to = "0"] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const clock = createManualClock(Number(from));
const timeZone = "America/New_York";
const limiter = createRateLimiter({
  store,
  clock,
  limits: {
    zoned: { kind: "fixed window", rate: 7, period: period as "day" | "week", timeZone },
  },
});
await run("SELECT 1");

/** The number of grants, by the start of the window. */
const granted: Record<string, number> = {};
while (clock() < Number(to)) {
  for (;;) {
    const calls = Array.from({ length: 3 }, () => limiter.limit("zoned", { key: "one" }));
    const answers = await Promise.all(calls);
    for (const answer of answers) {
      if (answer.ok) granted[answer.ts] = (granted[answer.ts] ?? 0) + 1;
    }
    const denied = answers.find(({ ok }) => !ok);
    if (denied === undefined) continue;
    // If another process is some windows ahead, the wait is longer.
    clock.advance(denied.retryAfter!);
    break;
  }
}
await close();
console.log(JSON.stringify({ granted, zone: new Date(0).getTimezoneOffset() }));
