/**
 * A process whose callers enter slots, hold them for a while and release them, until its input ends.
 * Prints a line of JSON for each slot that was entered, left or lost, and for each step of its work.
 * Times are in ms, of a clock that all processes of a machine share.
 *
 * Arguments: the kind of store, the database's URL, and the number of callers.
 */
import { setTimeout as wait } from "node:timers/promises";
import { createRateLimiter } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

export const SLOTS = 2;

const [kind = "", url = "", callers = "1"] = process.argv.slice(2);
const { store, run, close } = openStore(kind as StoreKind, url);
const limiter = createRateLimiter({
  store,
  limits: { work: { kind: "concurrency", slots: SLOTS, ttl: 1000 } },
  logger: false,
});
const now = () => Number(process.hrtime.bigint()) / 1e6;
const print = (event: object) => console.log(JSON.stringify(event));
let isEnding = false;
let entries = 0;

async function work(caller: number): Promise<void> {
  while (!isEnding) {
    const waits = (caller + entries) % 2 === 0;
    // After a process stood still, `enter` can throw because an answer came too late.
    const slot = await limiter.enter("work", waits ? { maxWait: 2000 } : {}).catch(() => undefined);
    if (slot?.ok !== true) {
      await wait(20 * Math.random());
      continue;
    }
    const id = ++entries;
    print({ type: "in", id, at: now() });
    slot.signal.addEventListener("abort", () => print({ type: "lost", id, at: now() }));
    // A tenth of the callers stay longer than the ttl, so that their slots must be renewed.
    const until = now() + (Math.random() < 0.1 ? 1500 : 100 * Math.random());
    for (let at = now(); at < until && !slot.signal.aborted; at = now()) {
      print({ type: "step", id, at });
      await wait(10);
    }
    print({ type: "out", id, at: now() });
    await slot.release();
  }
}

await run("SELECT 1").catch(() => {});
process.stdin.resume().on("end", () => (isEnding = true));
print({ type: "ready", id: 0, at: now() });
await Promise.all(Array.from({ length: Number(callers) }, (_, caller) => work(caller)));
await close();
