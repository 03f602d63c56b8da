/** Starts the example application in a process, as `npm run demo` does. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Demo {
  url: string;
  /** What the terminal shows so far. */
  output(): string;
  /** The database. Another demo can continue with it. */
  databaseUrl: string;
  /** Sends SIGINT, as Ctrl-C does, and resolves with the exit code. */
  interrupt(): Promise<number | null>;
  /** Stops the process where it is, so that it answers nothing, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Ends the process at once, without a clean-up. Its database stays. */
  kill(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface DemoOptions {
  /** The database of an earlier run. @default a new, empty one */
  databaseUrl?: string;
  port?: number;
  /** The arguments of the command, such as `--processes 2`. @default none */
  args?: readonly string[];
  /** The path of Bun's binary, to start the demo in Bun. @default Node.js */
  bun?: string | undefined;
}

export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const folder = await mkdtemp(join(tmpdir(), "demo-"));
  const { databaseUrl = `file:${join(folder, "demo.db")}`, port = 0, args = [], bun } = options;
  // Bun needs no loader for TypeScript.
  const loader = bun === undefined ? ["--import", "tsx"] : [];
  const command = [...loader, "example-app/shared/server/main.ts", ...args];
  const child = spawn(bun ?? process.execPath, command, {
    cwd: ROOT,
    env: {
      ...process.env,
      PORT: String(port),
      DATABASE_URL: databaseUrl,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const url = await waitForUrl(child);
  return {
    url,
    output: () => output,
    databaseUrl,
    interrupt() {
      child.kill("SIGINT");
      return exited;
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function waitForUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const url = /http:\/\/localhost:\d+/.exec(output)?.[0];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", () =>
      reject(new Error(`the demo exited before it was ready. Its output:\n${output}`)),
    );
  });
}
