/** Two processes whose operators act, and one of them is killed: the log misses nothing that was done. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { openAdmin } from "../../../support/admin-caller.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { CHANGED_LIMITS } from "../../../support/changed-limits.js";
import { createPostgres } from "../../../support/database.js";
import { openStore } from "../../../support/open-store.js";

const WORKER = await bundleProgram(new URL("../../../support/changes-worker.ts", import.meta.url));
const ROUNDS = Number(process.env["ROUNDS"] ?? 3);

async function start(url: string, by: string) {
  const child = spawn(process.execPath, [WORKER, url, by]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const answered: string[] = [];
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  createInterface(child.stdout).on("line", (line) => answered.push(line));
  await expect.poll(() => [answered.length > 3, log], { timeout: 20_000 }).toEqual([true, ""]);
  return {
    answered,
    async kill() {
      child.kill("SIGKILL");
      // Its last lines are read before this event.
      await once(child, "close");
    },
  };
}

it(
  "has each ban that was answered or counts, and one more at most for each kill",
  { timeout: 60_000 + ROUNDS * 20_000 },
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await using database = await createPostgres();
      const { store, close } = openStore("pg", database.url);
      const { admin, limiter } = openAdmin(store, CHANGED_LIMITS);
      const workers = await Promise.all(
        ["ann", "ben"].map((by) => start(database.url, `${by}${round}`)),
      );
      await workers[0]!.kill();
      const more = workers[1]!.answered.length + 5;
      await expect.poll(() => workers[1]!.answered.length).toBeGreaterThan(more);
      await workers[1]!.kill();

      const banned = (await limiter.overrides.list("send")).map(({ key }) => key!);
      const found: string[] = [];
      for (let before: number | undefined; ;) {
        const { items } = await admin.changes({ count: 200, ...(before && { before }) });
        found.push(...items.map(({ key }) => key!));
        if (items.length < 200) break;
        before = items.at(-1)!.at + 1;
      }
      const logged = new Set(found);
      const answered = workers.flatMap((worker) => worker.answered);
      const missing = (keys: readonly string[], from: ReadonlySet<string>) =>
        keys.filter((key) => !from.has(key));
      expect(missing(answered, logged)).toEqual([]);
      expect(missing(answered, new Set(banned))).toEqual([]);
      expect(missing(banned, logged)).toEqual([]);
      // What was written down and not done: the action of each process that was killed in it.
      expect(missing([...logged], new Set(banned)).length).toBeLessThanOrEqual(2);
      await close();
    }
  },
);
