/**
 * Redis servers as processes of the tests: on free ports of loopback, with folders of their own, run by
 * the user who runs the tests. A test can kill, freeze and restart each server.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "../support/free-port.js";

/** The bound for the start of one server, ms. Tests bound their own time. */
const START_WITHIN = 10_000;

export interface RedisServer {
  readonly port: number;
  /** Sends a command on a new connection. Rejects with the server's error. */
  run(...command: (string | number)[]): Promise<unknown>;
  /** Kills the server, as in a crash. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Suspends the server. Its connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Starts the server again on its port, with the data in its folder. */
  start(): Promise<void>;
  /** Kills the server, and removes its folder. */
  stop(): Promise<void>;
}

/** The reason why Redis cannot run on this machine; `undefined` if it can. */
export function missingForRedis(): string | undefined {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "redis-server is not installed (Debian: apt-get install redis-server)";
  }
}

/** @param settings of `redis.conf`, such as `{ "maxmemory-policy": "allkeys-lru" }`. */
export async function startRedis(
  settings: Readonly<Record<string, string | number>> = {},
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "redis-"));
  const port = await freePort();
  const options = {
    bind: "127.0.0.1",
    port,
    dir: folder,
    save: "",
    appendonly: "no",
    "enable-debug-command": "local",
    // Without a delay, a replica that joins gets its data at once.
    "repl-diskless-sync-delay": 0,
    ...settings,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  let child: ChildProcess;
  let log = "";

  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  const run = (...command: (string | number)[]) => runOn(port, command.map(String));
  async function start(): Promise<void> {
    child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on("data", (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4000)));
    }
    const until = performance.now() + START_WITHIN;
    while ((await run("PING").catch(() => "")) !== "PONG") {
      if (child.exitCode !== null || performance.now() > until) {
        throw new Error(`a Redis server did not start. The end of its log:\n${log}`);
      }
      await setTimeout(10);
    }
  }
  await start();
  return {
    port,
    run,
    kill: end,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    start,
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Text, a number, nothing, or a list of these. */
type Reply = string | number | null | Error | Reply[];

/** Sends one command on a new connection, so that no client's behaviour is part of a test's set-up. */
async function runOn(port: number, command: readonly string[]): Promise<Reply> {
  const socket = createConnection({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
    socket.write(`*${command.length}\r\n${parts.join("")}`);
    const reply = await readReply(socket);
    if (reply instanceof Error) throw reply;
    return reply;
  } finally {
    socket.destroy();
  }
}

async function readReply(socket: Socket): Promise<Reply> {
  let text = "";
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    // One character for each byte, because lengths count bytes.
    text += chunk.toString("latin1");
    const parsed = parseReply(text, 0);
    if (parsed !== undefined) return parsed[0];
  }
  throw new Error("the server closed the connection");
}

/** @returns the reply and where it ends, or `undefined` if the reply is not complete. */
function parseReply(text: string, start: number): [Reply, number] | undefined {
  const lineEnd = text.indexOf("\r\n", start);
  if (lineEnd === -1) return undefined;
  const line = text.slice(start + 1, lineEnd);
  const next = lineEnd + 2;
  switch (text[start]) {
    case "+":
      return [line, next];
    case "-":
      return [new Error(line), next];
    case ":":
      return [Number(line), next];
    case "$": {
      const length = Number(line);
      if (length < 0) return [null, next];
      if (text.length < next + length + 2) return undefined;
      const bytes = Buffer.from(text.slice(next, next + length), "latin1");
      return [bytes.toString(), next + length + 2];
    }
    default: {
      const replies: Reply[] = [];
      let position = next;
      for (let count = Number(line); count > 0; count--) {
        const parsed = parseReply(text, position);
        if (parsed === undefined) return undefined;
        replies.push(parsed[0]);
        position = parsed[1];
      }
      return [replies, position];
    }
  }
}
