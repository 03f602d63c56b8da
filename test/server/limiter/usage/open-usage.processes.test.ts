/** Processes that count usage are killed repeatedly: their loss is within the bound. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { createRateLimiter, HOUR } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { sharedDatabases } from "../../../support/database.js";
import { isNightly } from "../../../support/nightly.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";
import { USAGE_LIMITS } from "../../../support/usage-limits.js";

const WORKER = await bundleProgram(new URL("../../../support/usage-worker.ts", import.meta.url));
const KILLS = isNightly ? 20 : 8;
/** One client for each database. */
const databases = sharedDatabases.filter(({ provider }, i, all) => {
  return all.findIndex((each) => each.provider === provider) === i;
});

interface Life {
  /** Calls that were answered when the process was killed. */
  answered: number;
  /** Calls of which the process knows that they are written. */
  written: number;
}

/** Runs a process, and kills it after so many of its calls were answered. */
async function run(kind: StoreKind, url: string, key: string, killedAfter: number): Promise<Life> {
  const child = spawn(process.execPath, [WORKER, kind, url, key]);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(child, "exit");
  const life: Life = { answered: 0, written: 0 };
  for await (const line of createInterface(child.stdout)) {
    const [what, count] = line.split(" ");
    if (what === "answered" || what === "written") life[what] = Number(count);
    if (what === "answered" && life.answered === killedAfter) child.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [unknown, string];
  if (signal !== "SIGKILL") throw new Error(`a process has failed: ${log}`);
  return life;
}

describe.each(databases)("usage on $name", ({ kind, create }) => {
  it(
    "is what was written before a kill at least, and what was used at most",
    { timeout: 120_000 },
    async () => {
      await using database = await create();
      const { url } = database;
      const { store, close } = openStore(kind, url);
      const limiter = createRateLimiter({ store, limits: USAGE_LIMITS });
      // By the clock of the database.
      await limiter.check("tokens");
      const from = Math.floor(limiter.clock() / HOUR) * HOUR - HOUR;
      let [answered, written] = [0, 0];
      for (let kill = 0; kill < KILLS; kill += 2) {
        // Two at a time, which write the same row of all keys.
        const keys = [`process ${kill}`, `process ${kill + 1}`];
        const lives = await Promise.all(
          keys.map((key, i) => run(kind, url, key, 5 + 5 * (kill + i))),
        );
        for (const [i, key] of keys.entries()) {
          const life = lives[i]!;
          const { total } = await limiter.usage("tokens", { key, from, to: from + 3 * HOUR });
          const { value } = await limiter.getValue("tokens", { key });
          const used = 1_000_000 - value;
          expect(total.taken).toBe(total.granted);
          // The table has no more than the truth, and lacks no more than was not written yet.
          expect(total.taken).toBeLessThanOrEqual(used);
          expect(total.taken).toBeGreaterThanOrEqual(life.written);
          // Calls that were answered were used, and perhaps some that were under way.
          expect(used).toBeGreaterThanOrEqual(life.answered);
          answered += life.answered;
          written += life.written;
        }
      }
      const { total } = await limiter.usage("tokens", { from, to: from + 3 * HOUR });
      expect(total.taken).toBeGreaterThan(answered / 2);
      expect(total.taken).toBeGreaterThanOrEqual(written);
      expect(answered).toBeGreaterThan(KILLS * 20);
      await close();
    },
  );
});
