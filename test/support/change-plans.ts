/**
 * A process that calls one limit without pause while its plan goes up and down. Each line of its input is
 * the name of the plan for the calls from now on, or `end`. At the end, the process prints its grants. A
 * grant says when the call was sent and when it was answered, in ms of a clock that all processes of a
 * machine share, and whether the call used the large plan.
 *
 * Arguments: the kind of store, the database's URL, and the plans, as JSON.
 */
import { createInterface } from "node:readline";
import { createRateLimiter, type RateLimitConfig } from "../../server/index.js";
import { openStore, type StoreKind } from "./open-store.js";

const CALLERS = 4;
const [kind = "", url = "", json = ""] = process.argv.slice(2);
const { small, large, overrides } = JSON.parse(json) as {
  small: RateLimitConfig;
  large: RateLimitConfig;
  /** Whether the plan is an override, and not the config of a call. */
  overrides: boolean;
};
const { store, run, close } = openStore(kind as StoreKind, url);
const limiter = createRateLimiter({
  store,
  limits: { calls: small },
  timeout: 10_000,
  ...(overrides && { overrides, overridesFor: 0 }),
});
const now = () => Number(process.hrtime.bigint()) / 1e6;

const grants: [asked: number, answered: number, isLarge: boolean][] = [];
/** "small", "large" or "end". */
let plan = "small";

async function caller(): Promise<void> {
  while (plan !== "end") {
    const isLarge = plan === "large" && !overrides;
    const asked = now();
    const of = isLarge ? { key: "ada", config: large } : { key: "ada" };
    if ((await limiter.limit("calls", of)).ok) grants.push([asked, now(), isLarge]);
  }
}

await run("SELECT 1");
await limiter.check("calls", { key: "ada" });
console.log("ready");
const calling = Array.from({ length: CALLERS }, caller);
for await (const line of createInterface(process.stdin)) {
  plan = line;
  if (plan === "end") break;
}
await Promise.all(calling);
await close();
console.log(JSON.stringify(grants));
process.exit();
