/** Slots of several processes on one database, while holders are killed and stand still. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../../../support/bundle-program.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import type { StoreKind } from "../../../support/open-store.js";

const PROCESS = await bundleProgram(new URL("../../../support/hold-slots.ts", import.meta.url));
const SLOTS = 2;
/** Longer than the `ttl` of the slots, ms. */
const STANDSTILL = 1300;

interface Interval {
  from: number;
  to: number;
}

const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Starts a process. `held` has the slots that it has entered, as intervals of time. */
async function start(kind: StoreKind, url: string, callers: number) {
  const args = [PROCESS, kind, url, String(callers)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const held = new Map<number, Interval>();
  const lost = new Set<number>();
  /** The last step of the work in each slot. */
  const worked = new Map<number, number>();
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => {
    const { type, id, at } = JSON.parse(line) as { type: string; id: number; at: number };
    const interval = held.get(id);
    if (type === "in") held.set(id, { from: at, to: Infinity });
    if (type === "lost") lost.add(id);
    if (type === "step") worked.set(id, at);
    if ((type === "out" || type === "lost") && interval) interval.to = Math.min(interval.to, at);
  });
  await once(lines, "line");
  /** Ends what it holds: from now on, it does no work. */
  const cut = (at: number) => {
    const open = [...held].filter(([, { to }]) => to > at);
    for (const [, interval] of open) interval.to = at;
    return open.map(([id]) => id);
  };
  const isHolding = () => [...held.values()].some(({ to }) => to === Infinity);
  return { child, held, lost, worked, cut, isHolding };
}

type Worker = Awaited<ReturnType<typeof start>>;

/** Until the process holds a slot. */
async function holding(worker: Worker): Promise<void> {
  while (!worker.isHolding()) await wait(5);
}

/** The most intervals that share an instant. */
function mostAtOnce(intervals: readonly Interval[]): number {
  const steps = intervals.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let [count, most] = [0, 0];
  for (const { by } of steps) most = Math.max(most, (count += by));
  return most;
}

const databases: [
  StoreKind,
  () => Promise<{ url: string; [Symbol.asyncDispose](): Promise<void> }>,
][] = [
  ["pg", createPostgres],
  ["postgresql", createPostgres],
  ["sqlite", createSqlite],
  ...(mysqlUrl === undefined ? [] : ([["mysql2", createMysql]] satisfies typeof databases)),
];

it.each(databases)(
  "no slot has two holders while holders are killed and stand still (%s)",
  async (kind, create) => {
    const database = await create();
    const workers: Worker[] = [];
    onTestFinished(async () => {
      for (const { child } of workers) child.kill("SIGKILL");
      await database[Symbol.asyncDispose]();
    });
    const add = async () => void workers.push(await start(kind, database.url, 2));
    await Promise.all([add(), add(), add()]);

    const killed = workers[0]!;
    await holding(killed);
    killed.cut(now());
    killed.child.kill("SIGKILL");
    await once(killed.child, "close");
    killed.cut(now());

    const still = workers[1]!;
    await holding(still);
    still.child.kill("SIGSTOP");
    const stopped = now();
    await wait(STANDSTILL);
    // Only now, because a slot that was entered just before is read of meanwhile.
    const open = still.cut(stopped);
    const again = now();
    still.child.kill("SIGCONT");
    await add();
    await wait(2000);

    for (const { child } of workers) if (child !== killed.child) child.stdin.end();
    await Promise.all(
      workers
        .filter(({ child }) => child.exitCode === null && child.signalCode === null)
        .map(({ child }) => once(child, "close")),
    );
    // What was lost while the process stood still, it is told. Its late releases free nothing.
    for (const id of open) expect(still.lost.has(id) || still.held.get(id)!.to > 0).toBe(true);
    // It is told before the next step of its work, though the timer of that step comes first.
    expect(open.length).toBeGreaterThan(0);
    for (const id of open) expect(still.worked.get(id) ?? 0).toBeLessThan(again);
    const all = workers.flatMap(({ held }) => [...held.values()]);
    expect(all.length).toBeGreaterThan(20);
    expect(mostAtOnce(all)).toBe(SLOTS);
    // The slot of the process that was killed is used again.
    const end = Math.max(...[...killed.held.values()].map(({ to }) => to));
    expect(mostAtOnce(all.filter(({ from }) => from > end))).toBe(SLOTS);
  },
  60_000,
);
