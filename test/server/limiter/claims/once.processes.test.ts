/** Three processes send the same ids at the same time, and are killed before the answers come. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { createRateLimiter } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { sharedDatabases } from "../../../support/database.js";
import { ONCE_LIMITS } from "../../../support/once-limits.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";
import { createRedisRows, redisUrl } from "../../../support/redis-rows.js";

const WORKER = await bundleProgram(new URL("../../../support/once-worker.ts", import.meta.url));
const IDS = 120;
/** Each process is killed after so many of its batches were sent, and another one begins anew. */
const KILLED_AFTER = [1, 3, 5];

const shared = sharedDatabases.map(({ name, kind, create }) => ({ name, kind, create }));

if (redisUrl !== undefined) {
  const create = async () => createRedisRows();
  shared.push({
    name: "Redis",
    kind: "redis",
    create: create as unknown as (typeof shared)[0]["create"],
  });
}

/** Runs a process to its end, or kills it. Resolves with the ids that it has charged. */
async function run(kind: StoreKind, url: string, begun: Promise<unknown>, killedAfter = Infinity) {
  const child = spawn(process.execPath, [WORKER, kind, url, String(IDS)]);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(child, "exit");
  const charged: number[] = [];
  let sent = 0;
  let isDone = false;
  for await (const line of createInterface(child.stdout)) {
    if (line === "ready") void begun.then(() => child.stdin.write("begin\n"));
    if (line.startsWith("charged ")) charged.push(...(JSON.parse(line.slice(8)) as number[]));
    if (line === "sent" && ++sent === killedAfter) child.kill("SIGKILL");
    isDone ||= line === "done";
  }
  await exited;
  if (!isDone && killedAfter === Infinity) throw new Error(`a process has failed: ${log}`);
  return charged;
}

describe.each(shared)("ids on $name", ({ kind, create }) => {
  it(
    "are charged exactly once each, whoever sends them and is killed",
    { timeout: 90_000 },
    async () => {
      await using database = await create();
      const { url } = database;
      const soon = new Promise((resolve) => setTimeout(resolve, 2000));
      const charged = await Promise.all(
        KILLED_AFTER.map(async (killedAfter) => [
          ...(await run(kind, url, soon, killedAfter)),
          ...(await run(kind, url, Promise.resolve())),
        ]),
      );
      // An id that was charged in a process that was killed is told by none.
      const all = charged.flat();
      expect(new Set(all).size).toBe(all.length);
      const { store, close } = openStore(kind, url);
      const limiter = createRateLimiter({ store, limits: ONCE_LIMITS });
      const [one, two] = await limiter.snapshots([
        { name: "one", key: "user" },
        { name: "two", key: "user" },
      ]);
      expect(1_000_000 - one!.value).toBe(IDS);
      expect(Math.round(1_000_000 - two!.value)).toBe(IDS / 3);
      await close();
    },
  );
});
