/** Builds and starts test/t3-app, with this package in its node_modules as npm would install it. */
import { createClient } from "@libsql/client";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const APP = join(ROOT, "test/t3-app");
const NEXT = join(APP, "node_modules/next/dist/bin/next");

export const hasT3App = existsSync(NEXT);
/** The message of a test that is skipped without the T3 app. */
export const NO_T3_APP = "test/t3-app is not installed: npm run install:test-projects";

const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };

/** Packs the built package, unpacks it into the application, and builds the application. */
export async function buildT3App(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "t3-app-"));
  try {
    const installed = join(APP, "node_modules/trpc-rate-limit");
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: ROOT });
    await rm(installed, { recursive: true, force: true });
    await mkdir(installed);
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      version: string;
    };
    const archive = join(folder, `trpc-rate-limit-${version}.tgz`);
    await run("tar", ["-xzf", archive, "--strip-components=1", "-C", installed]);
    await run(process.execPath, [NEXT, "build"], {
      cwd: APP,
      // The build imports the modules that open the database, but sends no query to it.
      env: { ...env, DATABASE_URL: `file:${join(folder, "build.db")}` },
    }).catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`next build failed:\n${error.stdout}\n${error.stderr}`);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface T3App {
  url: string;
  /** The server's log so far. */
  output(): string;
  /** Sends SIGTERM, as a host does, and resolves with the exit code. */
  stop(): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the production build on a free port, with an empty database. */
export async function startT3App(): Promise<T3App> {
  const folder = await mkdtemp(join(tmpdir(), "t3-app-"));
  const databaseUrl = `file:${join(folder, "t3.db")}`;
  const database = createClient({ url: databaseUrl });
  await database.executeMultiple(await readFile(join(APP, "drizzle/0000_tables.sql"), "utf8"));
  database.close();

  const child = spawn(process.execPath, [NEXT, "start", "--hostname", "127.0.0.1", "--port", "0"], {
    cwd: APP,
    env: { ...env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  return {
    url: await waitForUrl(child, () => output),
    output: () => output,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function waitForUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const read = () => {
      const [, url] =
        /(http:\/\/(?:localhost|127\.0\.0\.1):\d+)[\s\S]*Ready in/.exec(output()) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on("data", read);
    child.once("exit", () => reject(new Error(`next start exited:\n${output()}`)));
  });
}
