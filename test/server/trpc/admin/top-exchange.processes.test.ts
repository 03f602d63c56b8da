/** Processes on one database, some of which are killed: what an operator sees of them before and after. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { DAY, postgresChannel } from "../../../../server/index.js";
import { openAdmin } from "../../../support/admin-caller.js";
import { bundleProgram } from "../../../support/bundle-program.js";
import { createPostgres } from "../../../support/database.js";
import { openStore } from "../../../support/open-store.js";
import { KEY, TOP_LIMITS } from "../../../support/top-limits.js";

const WORKER = await bundleProgram(new URL("../../../support/top-worker.ts", import.meta.url));

/** Resolves when all calls of the process are answered. */
async function start(url: string, written: number, more: number) {
  const child = spawn(process.execPath, [WORKER, url, String(written), String(more)]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  for await (const line of createInterface(child.stdout)) if (line === "ready") return child;
  throw new Error(`a process has failed: ${log}`);
}

it(
  "is what all processes have seen, without what a killed one had in memory",
  { timeout: 60_000 },
  async () => {
    await using database = await createPostgres();
    const { store, close } = openStore("pg", database.url);
    const channel = postgresChannel(() => new pg.Client({ connectionString: database.url }));
    const { limiter, admin } = openAdmin(store, TOP_LIMITS, { channel });
    // All later calls are denied.
    for (const name of ["counted", "plain"] as const) await limiter.limit(name, { key: KEY });
    const day = { from: Date.now() - DAY, to: Date.now() + DAY, by: "denied" } as const;
    const top = async () => {
      const { items, total, sources } = await admin.top(day);
      const denied = (name: string) => items.find((item) => item.name === name)?.denied;
      expect(sources.map(({ source }) => source)).toEqual(["usage", "processes"]);
      expect(total.granted).toBe(2);
      return { counted: denied("counted"), plain: denied("plain") };
    };
    const killed = await start(database.url, 4, 7);
    await start(database.url, 2, 1);
    // Of usage, what is written: its processes flush no more. Of the other limit, all that they have seen.
    await expect.poll(top).toEqual({ counted: 4 + 2, plain: 11 + 3 });
    killed.kill("SIGKILL");
    await once(killed, "exit");
    await expect.poll(top).toEqual({ counted: 4 + 2, plain: 3 });
    // A process that has come anew counts as the others do.
    await start(database.url, 5, 0);
    await expect.poll(top).toEqual({ counted: 4 + 2 + 5, plain: 3 + 5 });
    await channel.close();
    await close();
  },
);
