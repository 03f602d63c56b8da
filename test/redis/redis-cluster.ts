/**
 * A Redis Cluster of three masters with a replica each, on loopback. The tests put it together by
 * commands, because `redis-cli --cluster create` waits for seconds.
 */
import { setTimeout } from "node:timers/promises";
import { freePort } from "../support/free-port.js";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.js";
import { type RedisServer, startRedis } from "./redis-server.js";

const SLOTS = 16_384;
const MASTERS = 3;

export interface RedisCluster {
  /** The masters at first, then a replica of each in the same order. */
  readonly nodes: readonly RedisServer[];
  /** The ports by which clients reach the nodes. */
  readonly ports: readonly number[];
  /** The current master of a slot, as the server `asked` sees it. */
  masterOf(slot: number, asked?: RedisServer): Promise<RedisServer>;
  /** Resolves when each of `nodes` sees a working cluster with every replica in sync. */
  isHealthy(nodes?: readonly RedisServer[]): Promise<void>;
  /**
   * Cuts a server off from the other servers, both ways. Clients still reach it. Only for a cluster with
   * `canBeCut`.
   */
  cutOff(node: RedisServer): void;
  /** Ends the cut. */
  heal(): void;
  /** The proxy in front of a server, if it has one. */
  proxyOf(node: RedisServer): FaultProxy;
  /**
   * Moves a slot and its keys to another master, key by key, as an operator's tool does.
   *
   * @param between called when half of the keys have moved.
   */
  moveSlot(slot: number, to: RedisServer, between?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** After how many ms of silence a master counts as failed. @default 1000 */
  nodeTimeout?: number;
  /** Whether there are proxies in front of all servers, for `cutOff`. @default false */
  canBeCut?: boolean;
}

export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { nodeTimeout = 1000, canBeCut = false } = options;
  const indexes = Array.from({ length: 2 * MASTERS }, (_, index) => index);
  const buses = await Promise.all(indexes.map(freePort));
  const nodes: RedisServer[] = [];
  /** For each server: a proxy in front of its port, and one in front of its port for other servers. */
  const proxies: FaultProxy[][] = await Promise.all(
    indexes.map((index) => {
      const targets = [() => nodes[index]!.port, () => buses[index]!];
      return Promise.all(canBeCut ? targets.map(startFaultProxy) : []);
    }),
  );
  // The proxies tell the servers apart by the addresses that they connect from.
  const addressOf = (index: number) => `127.0.0.${index + 11}`;
  const started = await Promise.all(
    indexes.map((index) => {
      const [proxy, busProxy] = proxies[index]!;
      return startRedis({
        "cluster-enabled": "yes",
        "cluster-node-timeout": nodeTimeout,
        // The usual port is the own port plus 10000, which may be out of range.
        "cluster-port": buses[index]!,
        // A replica may take over at once, however long it was cut off.
        "cluster-replica-validity-factor": 0,
        // Only a replica that has heard from its master is listed.
        "repl-ping-replica-period": 1,
        ...(proxy && {
          "bind-source-addr": addressOf(index),
          "cluster-announce-ip": "127.0.0.1",
          "cluster-announce-port": proxy.port,
          "cluster-announce-bus-port": busProxy!.port,
        }),
      });
    }),
  );
  nodes.push(...started);
  /** The ports by which clients and other servers reach the nodes. */
  const ports = nodes.map(({ port }, index) => proxies[index]![0]?.port ?? port);
  const busPorts = buses.map((bus, index) => proxies[index]![1]?.port ?? bus);
  const ids = (await Promise.all(nodes.map((node) => node.run("CLUSTER", "MYID")))) as string[];
  async function stop(): Promise<void> {
    await Promise.all(nodes.map((node) => node.stop()));
    await Promise.all(proxies.flat().map((proxy) => proxy.close()));
  }

  async function build(): Promise<void> {
    for (const [index, node] of nodes.entries()) {
      await node.run("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
      // Connect each pair directly. Gossip would take seconds.
      for (let other = 0; other < index; other++) {
        await node.run("CLUSTER", "MEET", "127.0.0.1", ports[other]!, busPorts[other]!);
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
    return nodes[ports.indexOf(range?.[2][1] ?? 0)]!;
  }

  async function moveSlot(
    slot: number,
    to: RedisServer,
    between?: () => Promise<void>,
  ): Promise<void> {
    const from = await masterOf(slot);
    if (from === to) return;
    const idOf = (node: RedisServer) => ids[nodes.indexOf(node)]!;
    await to.run("CLUSTER", "SETSLOT", slot, "IMPORTING", idOf(from));
    await from.run("CLUSTER", "SETSLOT", slot, "MIGRATING", idOf(to));
    const count = Number(await from.run("CLUSTER", "COUNTKEYSINSLOT", slot));
    for (let moved = 0; ; moved++) {
      const keys = (await from.run("CLUSTER", "GETKEYSINSLOT", slot, 1)) as string[];
      if (keys.length === 0) break;
      await from.run(
        "MIGRATE",
        "127.0.0.1",
        ports[nodes.indexOf(to)]!,
        "",
        0,
        5000,
        "KEYS",
        ...keys,
      );
      if (moved === Math.floor(count / 2)) await between?.();
    }
    for (const node of [to, from]) await node.run("CLUSTER", "SETSLOT", slot, "NODE", idOf(to));
  }

  try {
    await build();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    nodes,
    ports,
    masterOf,
    isHealthy,
    cutOff(node) {
      const index = nodes.indexOf(node);
      for (const [other, own] of proxies.entries()) {
        const isFar = (address: string) =>
          other === index ? address !== "127.0.0.1" : address === addressOf(index);
        for (const proxy of own) proxy.cutOff(isFar);
      }
    },
    proxyOf: (node) => proxies[nodes.indexOf(node)]![0]!,
    heal() {
      for (const proxy of proxies.flat()) proxy.heal();
    },
    moveSlot,
    stop,
  };
}

export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > end) throw new Error(`waited for 20 s until ${what}`);
    await setTimeout(20);
  }
}
