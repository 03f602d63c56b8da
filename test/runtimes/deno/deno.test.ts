/** The built package in Deno: its types, its stores, and a server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { describeStore } from "../../../testing/index.js";
import { createPostgres } from "../../support/database.js";
import { deno, DENO_PROJECT, installInDeno, NO_DENO, runDeno } from "../../support/deno.js";

const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations/", import.meta.url));

/** The files in their order. The first file creates the table of the limits. */
async function sqliteMigrations(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return folders.toSorted().map((folder) => join(MIGRATIONS, folder, "migration.sql"));
}

/** How many tests the contract has. */
function countTests(): number {
  let count = 0;
  const ignore = () => {};
  const runner = {
    describe: (_title: string, define: () => void) => define(),
    it: () => count++,
    beforeEach: ignore,
    afterEach: ignore,
    expect: () => ({ toBe: ignore, toEqual: ignore }),
  };
  describeStore(runner, "counted", () => Promise.reject(new Error("no test is run")));
  return count;
}

describe.skipIf(deno === undefined)("the package in Deno", () => {
  beforeAll(installInDeno);

  it("has types that Deno accepts", async () => {
    await runDeno(["check", "run/contract.ts", "run/limits.ts", "run/serve.ts"]);
  });

  it("grants three of four calls, in memory, on SQLite and on PostgreSQL", async () => {
    await using database = await createPostgres();
    const [limits] = await sqliteMigrations();
    const args = ["run", "-A", "run/limits.ts", database.url, limits!];
    const three = [true, true, true, false];
    expect(JSON.parse(await runDeno(args))).toEqual({ memory: three, sqlite: three, pg: three });
  });

  it.each(["pg", "node:sqlite"])("passes the contract of stores through %s", async (kind) => {
    await using database = await createPostgres();
    const migrations = JSON.stringify(await sqliteMigrations());
    const env = { STORE_KIND: kind, STORE_URL: database.url, MIGRATIONS: migrations };
    const printed = await runDeno(["test", "-A", "--no-check", "run/contract.ts"], env);
    const [, passed, failed] = /(\d+) passed \((\d+) steps?\) \| 0 failed/.exec(printed) ?? [];
    expect([passed, failed]).toEqual(["1", String(countTests())]);
    expect(printed).not.toMatch(/ignored|skipped/);
  });

  it("serves a router by Deno.serve, which answers the fourth call with 429", async () => {
    const child = spawn(deno!, ["run", "-A", "run/serve.ts"], {
      cwd: DENO_PROJECT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = createInterface(child.stdout);
    const ended = once(child, "exit").then(() => Promise.reject(new Error("it has ended")));
    const [url] = (await Promise.race([once(lines, "line"), ended])) as [string];
    ended.catch(() => {});
    const send = () =>
      fetch(`${url}/trpc/send`, {
        method: "POST",
        headers: { "content-type": "application/json" },
      });
    for (let i = 0; i < 3; i++) expect((await send()).status).toBe(200);
    const denied = await send();
    expect(denied.status).toBe(429);
    expect(await denied.json()).toMatchObject({
      error: { data: { rateLimit: { kind: "RateLimited", name: "send" } } },
    });
    const input = encodeURIComponent(JSON.stringify({ items: [{ name: "send" }] }));
    const stream = await fetch(`${url}/trpc/rateLimit.watch?input=${input}`, {
      signal: AbortSignal.timeout(60_000),
    });
    let text = "";
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes('"value":0')) break;
    }
    expect(text).toContain('"name":"send"');
  });
});

if (deno === undefined) it("the package in Deno", ({ skip }) => skip(NO_DENO));
