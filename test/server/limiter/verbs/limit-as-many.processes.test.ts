/** Three processes take as many tokens as fit, until none are left. One process is killed in the middle. */
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { processDatabases, startWorker } from "../../../support/key-processes.js";
import { openStore } from "../../../support/open-store.js";
import { COUNTS, limits } from "../../../support/take-as-many.js";

const PROCESS = await bundleProgram(new URL("../../../support/take-as-many.ts", import.meta.url));
const CAPACITY = limits.tokens.rate;
const CALLERS = 4;
/** The most tokens of the calls in flight in one process. */
const IN_FLIGHT = CALLERS * Math.max(...COUNTS);

type Call = [count: number, granted: number];

const sumOf = (calls: readonly Call[]) => calls.reduce((sum, [, granted]) => sum + granted, 0);

it.each(processDatabases)(
  "three processes are granted exactly the capacity, and leave nothing (%s)",
  async (kind, open) => {
    const database = await open();
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { store, close } = openStore(kind, database.url);
    onTestFinished(close);
    const limiter = createRateLimiter({ store, limits, timeout: 20_000, clock: () => DAY });
    const left = async (key: string) => (await limiter.getValue("tokens", { key })).value;
    const processes = await Promise.all(
      [0, 1, 2].map(() => startWorker<Call>(PROCESS, kind, database.url, String(CALLERS))),
    );

    const calls = (await Promise.all(processes.map(({ work }) => work("all")))).flat();
    expect(sumOf(calls)).toBe(CAPACITY);
    expect(await left("all")).toBe(0);
    for (const [count, granted] of calls) {
      expect(granted).toBeLessThanOrEqual(count);
      expect(granted).toBeGreaterThanOrEqual(1);
    }
    // Only the call that took the last token can have got fewer tokens than it wanted.
    expect(calls.filter(([count, granted]) => granted < count).length).toBeLessThanOrEqual(1);

    const [killed, ...others] = processes;
    const going = others.map(({ work }) => work("killed"));
    await killed!.work("killed", 10);
    const told = await killed!.kill();
    told.push(...(await Promise.all(going)).flat());
    expect(await left("killed")).toBe(0);
    // Only the answers to the calls in flight are lost.
    expect(sumOf(told)).toBeLessThanOrEqual(CAPACITY);
    expect(sumOf(told)).toBeGreaterThanOrEqual(CAPACITY - IN_FLIGHT);
  },
  60_000,
);
