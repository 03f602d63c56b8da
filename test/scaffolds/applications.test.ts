/**
 * Applications on each host of tRPC, wired by `init` before the package is installed: their types, and
 * the answers of their servers. By hand, the tests change only the procedures that are to be limited.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { ROOT } from "../docs/pages.js";
import { createPostgres } from "../support/database.js";
import { isNightly, NIGHTLY_ONLY } from "../support/nightly.js";
import { MAIN } from "../support/run-init.js";
import { application, HOSTS } from "../support/trpc-applications.js";
import { editFile } from "./edit-file.js";
import { makeProject, type Project, TSC } from "./project.js";

const TSX = join(ROOT, "node_modules/tsx/dist/cli.mjs");
/** By day one of them: types and servers of the others are the same but for a few lines. */
const DAILY = "Express";

describe.each(HOSTS)("an application with tRPC on $host", ({ host, options }) => {
  it("is wired, compiles, and denies the fourth call with Retry-After", async ({ skip }) => {
    if (inject("unreachable")) skip(inject("unreachable"));
    if (host !== DAILY && !isNightly) skip(NIGHTLY_ONLY);
    await using app = await makeProject();
    await writeAll(app, application(options));
    const init = () => app.run(process.execPath, [MAIN, "init", "--yes", "--no-install"]);
    expect(await init()).not.toContain("By hand");
    expect(await init()).toMatch(/^Nothing to change/);
    await usePacked(app);
    expect(await app.install([])).not.toContain("ERESOLVE");
    await limitPing(app);
    expect(await app.typeErrors(TSC, ["-p", "."])).toEqual([]);

    await using database = await createPostgres();
    await makeTable(app, database.url);
    await using server = await app.serve([TSX, "src/server.ts"], { DATABASE_URL: database.url });
    const url = `${server.url}${host === "Node.js alone" ? "" : "/trpc"}/ping`;
    const headers = { "content-type": "application/json" };
    const ping = () => fetch(url, { method: "POST", headers, body: "{}" });
    for (let call = 0; call < 3; call++) expect((await ping()).status).toBe(200);
    const denied = await ping();
    expect(denied.status).toBe(429);
    expect(denied.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    expect(await denied.json()).toMatchObject({
      error: { data: { rateLimit: { kind: "RateLimited", name: "createPost" } } },
    });
    app.report(`tRPC on ${host}`);
  });
});

async function writeAll({ root }: Project, files: Record<string, string>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
}

/** The tarball, and the types of the application's own packages. */
async function usePacked({ root }: Project): Promise<void> {
  const file = join(root, "package.json");
  const parsed = JSON.parse(await readFile(file, "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(parsed.dependencies["trpc-rate-limit"]).toMatch(/^\^/);
  const { dependencies } = parsed;
  dependencies["trpc-rate-limit"] = `file:${inject("tarball")}`;
  dependencies["@tanstack/react-query"] = "*";
  for (const name of ["express", "node", "pg", "react"]) dependencies[`@types/${name}`] = "*";
  await writeFile(file, JSON.stringify(parsed));
}

async function limitPing({ root }: Project): Promise<void> {
  await editFile(
    join(root, "src/router.ts"),
    ["rateLimitRouter, t }", "rateLimited, rateLimitRouter, t }"],
    [
      "hello:",
      'ping: publicProcedure.use(rateLimited("createPost")).mutation(() => "pong"), hello:',
    ],
  );
  const port = "Number(process.argv.at(-1))";
  const server = join(root, "src/server.ts");
  const text = await readFile(server, "utf8");
  const ported = text
    .replace(/\bport: \d+/, `port: ${port}`)
    .replace(/\.listen\(\d+\)/, `.listen(${port})`);
  await writeFile(server, `${ported}setTimeout(() => console.log("Ready"), 500);\n`);
}

async function makeTable({ root }: Project, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP TABLE IF EXISTS "RateLimit", "RateLimitOverride"');
  await client.query(await readFile(join(root, "src/rate-limit.sql"), "utf8"));
  await client.end();
}
