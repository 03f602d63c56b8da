/** The guide for Express: its table and its server, run over HTTP as they stand on the page. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, it } from "vitest";
import { createPostgres } from "../support/database.js";
import { freePort } from "../support/free-port.js";
import { blocksOf, readPage } from "./pages.js";

const PAGE = "docs/guides/express.md";
/** Within the repository, so that the package's own name resolves to it. */
const SERVER = fileURLToPath(new URL("express/.tmp/server.ts", import.meta.url));

it("lets three requests pass and denies the fourth, with the table and the server of the page", async () => {
  const blocks = blocksOf(await readPage(PAGE));
  const sql = blocks.find(({ language }) => language === "sql")!.code;
  const code = blocks.find(({ language }) => language === "ts")!.code;
  await using database = await createPostgres();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`DROP TABLE "RateLimit"; ${sql}`);
  await client.end();

  await mkdir(dirname(SERVER), { recursive: true });
  // On a clock that stands still, no token comes back while a busy machine takes its time.
  const still = code.replace("autoPrune: true,", "autoPrune: true, clock: () => 0,");
  expect(still).not.toBe(code);
  await writeFile(SERVER, still);
  const port = await freePort();
  const env = { ...process.env, DATABASE_URL: database.url, PORT: String(port) };
  const server = spawn(process.execPath, ["--import", "tsx", SERVER], { env, stdio: "pipe" });
  try {
    let output = "";
    server.stderr.on("data", (data: Buffer) => (output += data.toString()));
    await Promise.race([
      once(server.stdout, "data"),
      once(server, "exit").then(() => expect.fail(output)),
    ]);
    const answers = [];
    for (let i = 0; i < 4; i++) {
      answers.push(await fetch(`http://127.0.0.1:${port}/messages`, { method: "POST" }));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[0]!.headers.get("RateLimit")).toContain("r=2");
    expect(await answers[0]!.json()).toEqual({ sent: true });
    const denied = answers[3]!;
    expect(denied.headers.get("Retry-After")).toBe("6");
    expect(await denied.json()).toMatchObject({ kind: "RateLimited", name: "sendMessage" });
  } finally {
    server.kill();
    await once(server, "exit");
    await rm(dirname(dirname(SERVER)), { recursive: true });
  }
}, 60_000);
