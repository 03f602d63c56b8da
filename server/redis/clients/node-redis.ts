/**
 * node-redis 5 and 6, the package `redis`: `createClient`, `createCluster` and `createClientPool`. The
 * cluster client of node-redis answers some commands with the replies of several masters. A command
 * without a key therefore goes to one master, which is chosen here.
 */
import { keySlot } from "../key-slot.js";
import type { RedisNode, RedisPort } from "../redis-port.js";
import { isKeyless } from "./keyless.js";
import { untilServed } from "./redirection.js";
import { hasMethods, property } from "./shape.js";
import { type Connection, type Topology, waitInCluster, waitOn } from "./wait-chain.js";

/** The result of `createClient` of node-redis 5 or 6. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  sendCommand(args: never, options?: never): unknown;
  withTypeMapping(mapping: never): unknown;
}

/** The result of `createCluster` of node-redis 5 or 6. */
export interface NodeRedisClusterLike {
  readonly isOpen: boolean;
  readonly masters: readonly unknown[];
  sendCommand(firstKey: never, isReadonly: never, args: never, options?: never): unknown;
  nodeClient(node: never): unknown;
}

interface CommandOptions {
  typeMapping: object;
  /** Commands with the same id are not sent over two connections. */
  chainId?: symbol;
}

interface Client {
  isOpen: boolean;
  sendCommand(args: readonly string[], options: CommandOptions): Promise<unknown>;
  /** For a pool alone: lends one of its clients. */
  execute?<TResult>(run: (client: Client) => Promise<TResult>): Promise<TResult>;
}

interface Master {
  host: string;
  port: number;
}

interface Cluster {
  isOpen: boolean;
  masters: Master[];
  slots: ({ master: Master } | undefined)[];
  sendCommand(
    firstKey: string,
    isReadonly: boolean,
    args: readonly string[],
    options: CommandOptions,
  ): Promise<unknown>;
  nodeClient(node: Master): Promise<Client>;
}

/** Replaces the client's own mapping, which may turn numbers into strings. */
const TEXT = { typeMapping: {} };

export function isNodeRedis(client: object): client is NodeRedisLike {
  const isOpen = property(client, "isOpen");
  return typeof isOpen === "boolean" && hasMethods(client, "sendCommand", "withTypeMapping");
}

export function isNodeRedisCluster(client: object): client is NodeRedisClusterLike {
  const masters = property(client, "masters");
  return Array.isArray(masters) && hasMethods(client, "sendCommand", "nodeClient");
}

export function nodeRedisPort(like: NodeRedisLike): RedisPort {
  const client = like as unknown as Client;
  const node: RedisNode = {
    async send(args) {
      checkOpen(client);
      return await client.sendCommand(args, TEXT);
    },
  };
  const pooled: Connection = {
    async chain(commands) {
      checkOpen(client);
      if (client.execute === undefined) return await connectionOf(client).chain(commands);
      return await client.execute((each) => connectionOf(each).chain(commands));
    },
  };
  return {
    keyPrefix: keyPrefixOf(like),
    resends: false,
    isCluster: false,
    send: node.send,
    sendAndWait: waitOn(pooled),
    masters: () => Promise.resolve([node]),
  };
}

export function nodeRedisClusterPort(like: NodeRedisClusterLike): RedisPort {
  const cluster = like as unknown as Cluster;
  const nodeAt = (master: Master): RedisNode => ({
    async send(args) {
      const client = await cluster.nodeClient(master);
      return await client.sendCommand(args, TEXT);
    },
  });
  const send: RedisNode["send"] = async (args, routingKey) => {
    checkOpen(cluster);
    if (routingKey !== undefined && !isKeyless(args)) {
      return await untilServed(() =>
        // The client writes the slot into the options, so each command gets a copy.
        cluster.sendCommand(routingKey, false, args, { ...TEXT }),
      );
    }
    const { masters, slots } = cluster;
    const random = masters[Math.floor(Math.random() * masters.length)];
    const master = routingKey === undefined ? random : slots[keySlot(routingKey)]?.master;
    if (master === undefined) throw new Error("the client knows no master of this slot");
    return await nodeAt(master).send(args, undefined);
  };
  const connectionTo = async (master: Master | undefined) =>
    master && connectionOf(await cluster.nodeClient(master));
  const topology: Topology = {
    async connectionFor(key) {
      checkOpen(cluster);
      return await connectionTo(cluster.slots[keySlot(key)]?.master);
    },
    connectionAt: (address) =>
      connectionTo(cluster.masters.find(({ host, port }) => address === `${host}:${port}`)),
    refresh: (key) => send(["EXISTS", key], key),
  };
  return {
    keyPrefix: keyPrefixOf(like),
    resends: false,
    isCluster: true,
    send,
    sendAndWait: waitInCluster(topology),
    masters() {
      checkOpen(cluster);
      return Promise.resolve(cluster.masters.map(nodeAt));
    },
  };
}

function connectionOf(client: Client): Connection {
  return {
    chain(commands) {
      const options = { ...TEXT, chainId: Symbol("wait") };
      const sent = commands.map((args) => client.sendCommand(args, options));
      return Promise.all(sent.map((reply) => reply.catch((error: unknown) => toError(error))));
    },
  };
}

/** The key prefix of the client, an option from version 6 on. */
function keyPrefixOf(client: object): string {
  return String((property(client, "_keyPrefix") as string | Buffer | undefined) ?? "");
}

function checkOpen({ isOpen }: { isOpen: boolean }): void {
  if (isOpen) return;
  throw new Error(
    "the client of node-redis is not connected: await client.connect() before the first limit",
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
