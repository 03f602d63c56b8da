/** Three processes end the same holds at the same time, and take tokens meanwhile. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createRateLimiter, HOUR } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { sharedDatabases } from "../../../support/database.js";
import { HELD_LIMITS, limitOfId } from "../../../support/held-limits.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";
import { createRedisRows, redisUrl } from "../../../support/redis-rows.js";

const WORKER = await bundleProgram(new URL("../../../support/end-holds.ts", import.meta.url));
const IDS = 200;
const PROCESSES = 3;
const HELD = 5;
/** Every fifth hold has lapsed when the processes begin. */
const hasLapsed = (id: number) => id % 5 === 0;
const key = "user";

interface Ended {
  taken: Record<"quota" | "credits", number>;
  ended: Record<string, "settled" | "released">;
}

interface Rows extends AsyncDisposable {
  url: string;
}

const shared: { name: string; kind: StoreKind; create: () => Promise<Rows> }[] = [
  ...sharedDatabases,
];
if (redisUrl !== undefined) {
  shared.push({ name: "Redis", kind: "redis", create: async () => createRedisRows() });
}

/** Runs a process to its end. */
async function run(kind: StoreKind, url: string, own: number, ready: () => Promise<void>) {
  const child = spawn(process.execPath, [WORKER, kind, url, String(IDS), String(own)]);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(child, "exit");
  let answer: Ended | undefined;
  for await (const line of createInterface(child.stdout)) {
    if (line === "ready") void ready().then(() => child.stdin.write("begin\n"));
    if (line.startsWith("ended ")) answer = JSON.parse(line.slice(6)) as Ended;
  }
  await exited;
  if (answer === undefined) throw new Error(`a process has failed: ${log}`);
  return answer;
}

/** Resolves for all processes when the last one is ready. */
function together(): () => Promise<void> {
  let waiting = PROCESSES;
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  return () => {
    if (--waiting === 0) begin();
    return begun;
  };
}

describe.each(shared)("holds on $name", ({ kind, create }) => {
  it("end exactly once each, whoever ends them", { timeout: 90_000 }, async () => {
    await using rows = await create();
    const { url } = rows;
    const { store, close } = openStore(kind, url);
    const limiter = createRateLimiter({ store, limits: HELD_LIMITS, timeout: 30_000 });
    await limiter.credit("credits", { key, count: 999_999 });
    await limiter.limit("quota", { key });
    const ids = Array.from({ length: IDS }, (_, id) => id);
    const holding = ids.map((id) => {
      const hold = hasLapsed(id)
        ? ({ for: 1, then: "release" } as const)
        : ({ for: HOUR, then: "keep" } as const);
      return limiter.limit(limitOfId(id), { key, count: HELD, once: `id ${id}`, hold });
    });
    expect((await Promise.all(holding)).every(({ ok }) => ok)).toBe(true);
    await setTimeout(50);
    const ready = together();
    const answers = await Promise.all(
      Array.from({ length: PROCESSES }, (_, own) => run(kind, url, own, ready)),
    );
    const wins = answers.flatMap(({ ended }) => Object.entries(ended));
    expect(wins.map(([id]) => Number(id)).toSorted((a, b) => a - b)).toEqual(
      ids.filter((id) => !hasLapsed(id)),
    );
    for (const name of ["quota", "credits"] as const) {
      const taken = answers.reduce((sum, { taken: each }) => sum + each[name], 0);
      const settled = wins.filter(([id, how]) => {
        return how === "settled" && limitOfId(Number(id)) === name;
      }).length;
      expect(taken).toBeGreaterThan(0);
      const { value, held } = await limiter.getValue(name, { key });
      expect([value, held]).toEqual([999_999 - taken - 2 * settled, 0]);
      expect(await limiter.holds(name, { key })).toEqual([]);
    }
    await close();
  });
});
