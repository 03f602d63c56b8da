/** Three processes pay from one plan and one balance. One process is killed in the middle. */
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, type PaidCount } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { processDatabases, startWorker } from "../../../support/key-processes.js";
import { openStore } from "../../../support/open-store.js";
import { limits } from "../../../support/pay-first.js";

const PROCESS = await bundleProgram(new URL("../../../support/pay-first.ts", import.meta.url));
const PLAN = limits.plan.rate;
const CREDITS = 303;
const CALLERS = 4;
/** Tokens of the calls in flight: two callers take one token at a time, and two of them three. */
const IN_FLIGHT = 2 * (1 + 3);

function sumOf(calls: readonly PaidCount[][], name: string): number {
  return calls.flat().reduce((sum, paid) => sum + (paid.name === name ? paid.count : 0), 0);
}

it.each(processDatabases)(
  "three processes take from plan and credits together exactly what was there (%s)",
  async (kind, open) => {
    const database = await open();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { store, close } = openStore(kind, database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits, timeout: 20_000, clock: () => DAY });
    const left = async (key: string) => [
      (await limiter.getValue("plan", { key })).value,
      (await limiter.getValue("credits", { key })).value,
    ];
    for (const key of ["all", "killed"]) await limiter.credit("credits", { key, count: CREDITS });
    const processes = await Promise.all(
      [0, 1, 2].map(() => startWorker<PaidCount[]>(PROCESS, kind, database.url, String(CALLERS))),
    );

    const calls = (await Promise.all(processes.map(({ work }) => work("all")))).flat();
    expect([sumOf(calls, "plan"), sumOf(calls, "credits")]).toEqual([PLAN, CREDITS]);
    expect(await left("all")).toEqual([0, 0]);
    // The credits pay only for what the plan lacks.
    expect(calls.filter((paid) => paid.length === 2).length).toBeLessThanOrEqual(1);

    const [killed, ...others] = processes;
    const going = others.map(({ work }) => work("killed"));
    await killed!.work("killed", 10);
    const seen = await left("killed");
    const told = await killed!.kill();
    told.push(...(await Promise.all(going)).flat());
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(0);
    expect(await left("killed")).toEqual([0, 0]);
    // Only the answers to the calls in flight are lost.
    const total = sumOf(told, "plan") + sumOf(told, "credits");
    expect(total).toBeLessThanOrEqual(PLAN + CREDITS);
    expect(total).toBeGreaterThanOrEqual(PLAN + CREDITS - IN_FLIGHT);
  },
  60_000,
);
