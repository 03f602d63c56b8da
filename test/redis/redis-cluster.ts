/**
 * A Redis Cluster of three masters with a replica each, on loopback. It is put together by commands,
 * because `redis-cli --cluster create` waits for seconds.
 */
import { setTimeout } from "node:timers/promises";
import { freePort } from "../support/postgres-server.js";
import { type RedisServer, startRedis } from "./redis-server.js";

const SLOTS = 16_384;
const MASTERS = 3;

export interface RedisCluster {
  /** The masters at first, then a replica of each in the same order. */
  readonly nodes: readonly RedisServer[];
  /** The server that is the master of a slot now, as the server at `asked` sees it. */
  masterOf(slot: number, asked?: RedisServer): Promise<RedisServer>;
  /** Resolves when every one of `nodes` sees a cluster that works and has every replica in sync. */
  isHealthy(nodes?: readonly RedisServer[]): Promise<void>;
  /** Moves a slot and its keys to another master, key by key, as an operator's tool does. */
  moveSlot(slot: number, to: RedisServer): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param nodeTimeout after how many ms of silence a master counts as failed.
 * @param settings of `redis.conf`.
 */
export async function startCluster(
  nodeTimeout = 1000,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: 2 * MASTERS }, async () =>
      startRedis({
        "cluster-enabled": "yes",
        "cluster-node-timeout": nodeTimeout,
        // The usual one is the port and 10000, which may not exist.
        "cluster-port": await freePort(),
        // A replica may follow at once, however long it was cut off.
        "cluster-replica-validity-factor": 0,
        // Only a replica that has heard something is listed.
        "repl-ping-replica-period": 1,
        ...settings,
      }),
    ),
  );
  const ids = (await Promise.all(nodes.map((node) => node.run("CLUSTER", "MYID")))) as string[];
  const stop = () => Promise.all(nodes.map((node) => node.stop())).then(() => {});

  async function build(): Promise<void> {
    const buses = await Promise.all(nodes.map(busOf));
    for (const [index, node] of nodes.entries()) {
      await node.run("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
      // Each pair by itself. Gossip would take seconds.
      for (const [other, { port }] of nodes.slice(0, index).entries()) {
        await node.run("CLUSTER", "MEET", "127.0.0.1", port, buses[other]!);
      }
    }
    for (let index = 0; index < MASTERS; index++) {
      const start = Math.floor((SLOTS * index) / MASTERS);
      const end = Math.floor((SLOTS * (index + 1)) / MASTERS) - 1;
      await nodes[index]!.run("CLUSTER", "ADDSLOTSRANGE", start, end);
    }
    await until("all know each other", async () => {
      const known = await Promise.all(nodes.map((node) => node.run("CLUSTER", "NODES")));
      return known.every((list) => ids.every((id) => (list as string).includes(id)));
    });
    for (const [index, replica] of nodes.slice(MASTERS).entries()) {
      await replica.run("CLUSTER", "REPLICATE", ids[index]!);
    }
    await isHealthy();
  }

  async function isHealthy(asked: readonly RedisServer[] = nodes): Promise<void> {
    await until("the cluster is healthy", async () => {
      const states = await Promise.all(
        asked.map(async (node) => {
          const info = (await node.run("CLUSTER", "INFO")) as string;
          const [role, ...rest] = (await node.run("ROLE")) as [string, ...unknown[]];
          const isSynced = role === "master" || rest[2] === "connected";
          const slots = (await node.run("CLUSTER", "SLOTS")) as unknown[][];
          const hasReplicas = slots.every((range) => range.length > 3) || asked !== nodes;
          return info.includes("cluster_state:ok") && isSynced && hasReplicas;
        }),
      );
      return states.every(Boolean);
    });
  }

  async function masterOf(slot: number, asked = nodes[0]!): Promise<RedisServer> {
    const ranges = (await asked.run("CLUSTER", "SLOTS")) as [number, number, [string, number]][];
    const range = ranges.find(([start, end]) => start <= slot && slot <= end);
    return nodes.find(({ port }) => port === range?.[2][1])!;
  }

  async function moveSlot(slot: number, to: RedisServer): Promise<void> {
    const from = await masterOf(slot);
    if (from === to) return;
    const idOf = (node: RedisServer) => ids[nodes.indexOf(node)]!;
    await to.run("CLUSTER", "SETSLOT", slot, "IMPORTING", idOf(from));
    await from.run("CLUSTER", "SETSLOT", slot, "MIGRATING", idOf(to));
    for (;;) {
      const keys = (await from.run("CLUSTER", "GETKEYSINSLOT", slot, 1)) as string[];
      if (keys.length === 0) break;
      await from.run("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", ...keys);
    }
    for (const node of [to, from]) await node.run("CLUSTER", "SETSLOT", slot, "NODE", idOf(to));
  }

  try {
    await build();
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, masterOf, isHealthy, moveSlot, stop };
}

async function busOf(node: RedisServer): Promise<number> {
  return Number(((await node.run("CONFIG", "GET", "cluster-port")) as string[])[1]);
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > end) throw new Error(`waited for 20 s until ${what}`);
    await setTimeout(20);
  }
}
