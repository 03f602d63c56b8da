/**
 * Servers of Redis that the benchmark starts on this machine, and stops: a single server, or a cluster of
 * three masters with a replica each. The servers keep nothing on disk.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { Redis } from "ioredis";

const run = promisify(execFile);
const MASTERS = 3;

export function hasRedis(): boolean {
  return spawnSync("redis-server", ["--version"]).status === 0;
}

export async function redisVersion(): Promise<string> {
  const { stdout } = await run("redis-server", ["--version"]);
  return `Redis ${/v=([\d.]+)/.exec(stdout)?.[1]}`;
}

/** The URL of the server, or of one node of the cluster. The protocol of the URL tells which. */
export async function startRedis(isCluster: boolean): Promise<{ url: string; stop(): void }> {
  const folder = await mkdtemp(join(tmpdir(), "trpc-rate-limit-bench-"));
  const ports = await freePorts(isCluster ? 2 * MASTERS : 1);
  const servers = ports.map((port) => startServer(port, isCluster, folder));
  await Promise.all(ports.map(isUp));
  if (isCluster) {
    const nodes = ports.map((port) => `127.0.0.1:${port}`);
    await run("redis-cli", [
      "--cluster",
      "create",
      ...nodes,
      "--cluster-replicas",
      "1",
      "--cluster-yes",
    ]);
    await Promise.all(ports.map(knowsCluster));
  }
  return {
    url: `${isCluster ? "redis-cluster" : "redis"}://127.0.0.1:${ports[0]}`,
    stop() {
      for (const server of servers) server.kill();
      void rm(folder, { recursive: true, force: true });
    },
  };
}

function startServer(port: number, isCluster: boolean, folder: string): ChildProcess {
  const cluster = ["--cluster-enabled", "yes", "--cluster-config-file", `nodes-${port}.conf`];
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  const server = spawn("redis-server", [...args, ...(isCluster ? cluster : [])], {
    stdio: "ignore",
  });
  process.once("exit", () => server.kill());
  return server;
}

/** Free ports below 55,000. A node of a cluster also listens on the port that is 10,000 higher. */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, "close");
    if (port < 55_000 && !ports.includes(port)) ports.push(port);
  }
  return ports;
}

const isUp = (port: number) => until(port, async (redis) => (await redis.ping()) === "PONG");

const knowsCluster = (port: number) =>
  until(port, async (redis) => (await redis.cluster("INFO")).includes("cluster_state:ok"));

async function until(port: number, isSo: (redis: Redis) => Promise<boolean>): Promise<void> {
  const redis = new Redis(port, "127.0.0.1", {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  });
  redis.on("error", () => {});
  while (!(await isSo(redis))) await new Promise((resolve) => setTimeout(resolve, 50));
  redis.disconnect();
}
