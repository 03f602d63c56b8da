/** Processes are killed in the middle of their jobs: what was told as used is what the rows say. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { HOUR } from "../../../../server/index.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { createPostgres } from "../../../support/database.js";
import { openStore } from "../../../support/open-store.js";
import { createRandom } from "../../../support/seeded-random.js";
import { BOUGHT, CHARGED, KEY, openJobs, runJob, usedBy } from "../../../support/usage-jobs.js";

const WORKER = await bundleProgram(
  new URL("../../../support/usage-job-worker.ts", import.meta.url),
);
const KILLS = 20;

/** Runs a process from a job on, and kills it while it does its next job but so many. */
async function live(url: string, first: number, jobs: number): Promise<number> {
  const child = spawn(process.execPath, [WORKER, url, String(first)]);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(child, "exit");
  let done = first;
  for await (const line of createInterface(child.stdout)) {
    done = Number(line) + 1;
    if (done === first + jobs) child.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [unknown, string];
  if (signal !== "SIGKILL") throw new Error(`a process has failed: ${log}`);
  return done;
}

it("is the balance after twenty kills", { timeout: 120_000 }, async () => {
  await using database = await createPostgres();
  const { store, close } = openStore("pg", database.url);
  const random = createRandom(57);
  let jobs = 0;
  for (let kill = 0; kill < KILLS; kill += 2) {
    // Two at a time, which do the same jobs, and some that an earlier process has done.
    const lives = [2, 4].map((back) => {
      const more = 3 + Math.floor(random() * 5);
      return live(database.url, Math.max(0, jobs - back), more + back);
    });
    jobs = Math.max(...(await Promise.all(lives)));
  }
  const limiter = openJobs(store);
  // The jobs that were killed are done again, and so are all others.
  for (let job = 0; job <= jobs; job++) await runJob(limiter, job);
  const reader = openJobs(store, HOUR);
  const told = { taken: 0, givenBack: 0, granted: 0 };
  const ids = new Set<string>();
  let charged = 0;
  for (let since: string | undefined, hasMore = true; hasMore;) {
    const page = await reader.usageChanges({ limit: 3, ...(since !== undefined && { since }) });
    for (const { id, name, key, ...of } of page.items) {
      expect([key, ids.has(id)]).toEqual([KEY, false]);
      ids.add(id);
      if (name === "tokens") charged += of.taken;
      else for (const each of ["taken", "givenBack", "granted"] as const) told[each] += of[each];
    }
    since = page.next;
    hasMore = page.hasMore;
  }
  const done = jobs + 1;
  expect(charged).toBe(CHARGED * done);
  const { value } = await limiter.getValue("credits", { key: KEY });
  expect(BOUGHT * done - told.taken + told.givenBack).toBe(value);
  // Beside the jobs themselves, each of them once, there are the takes without an id.
  const used = Array.from({ length: done }, (_, job) => usedBy(job)).reduce((a, b) => a + b, 0);
  const withoutId = told.taken - told.givenBack - used;
  expect(told.granted - done).toBeGreaterThanOrEqual(done);
  expect(withoutId).toBeGreaterThanOrEqual(told.granted - done);
  expect(withoutId).toBeLessThanOrEqual(told.granted - done + 2 * KILLS);
  expect(done).toBeGreaterThan(KILLS * 2);
  await close();
});
