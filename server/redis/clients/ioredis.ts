/**
 * ioredis 5 and 6, and iovalkey, which has the interface of ioredis. The client's `call` is called on an
 * object of our own, because two options of the client would change the commands. `enableAutoPipelining`
 * chooses a node of the cluster by the first argument, which is the digest of a script. `keyPrefix` is
 * not added to patterns.
 */
import { keySlot } from "../key-slot.js";
import type { RedisNode, RedisPort } from "../redis-port.js";
import { isKeyless } from "./keyless.js";
import { hasMethods, property } from "./shape.js";
import { type Connection, type Topology, waitInCluster, waitOn } from "./wait-chain.js";

/** A client of ioredis or iovalkey, single or with sentinels. */
export interface IoredisLike {
  readonly options: object;
  readonly status: string;
  call(command: string, ...args: never[]): unknown;
  sendCommand(command: never, ...rest: never[]): unknown;
  pipeline(): unknown;
}

/** A `Cluster` of ioredis or iovalkey. */
export interface IoredisClusterLike extends IoredisLike {
  readonly isCluster: boolean;
  nodes(role?: never): unknown;
}

interface Options {
  autoResendUnfulfilledCommands?: boolean;
  maxRetriesPerRequest?: number | null;
  clusterNodeRetryStrategy?: unknown;
  retryDelayOnFailover?: number;
  keyPrefix?: string | Buffer;
  redisOptions?: Options;
  host?: string;
  port?: number;
}

interface Pipeline {
  sendCommand(command: Command): unknown;
  exec(): Promise<[Error | null, unknown][] | null>;
}

interface Client {
  options: Options;
  status: string;
  call(this: CommandSink, command: string): Promise<unknown>;
  sendCommand(command: Command, stream?: undefined, node?: { slot: number }): Promise<unknown>;
  pipeline(): Pipeline;
}

interface Cluster extends Client {
  nodes(role: "master" | "all"): Client[];
  /** For each slot, the master and its replicas, as `host:port`. */
  slots: (string[] | undefined)[];
}

/** A command of the client. */
interface Command {
  args: readonly string[];
}

/**
 * The part of a client that `call` uses. A command gets its arguments here, after the client has made the
 * command. The client would flatten arguments, which costs 0.9 of 15 µs per call.
 */
class CommandSink {
  readonly options = {};
  words: readonly string[] = [];

  constructor(private readonly send: (command: Command) => unknown) {}

  sendCommand(command: Command): unknown {
    command.args = this.words;
    return this.send(command);
  }
}

export function isIoredis(client: object): client is IoredisLike {
  return hasMethods(client, "call", "sendCommand", "pipeline") && !property(client, "isPipeline");
}

export function isIoredisCluster(client: IoredisLike): client is IoredisClusterLike {
  return property(client, "isCluster") === true && hasMethods(client, "nodes");
}

export function ioredisPort(like: IoredisLike): RedisPort {
  const client = like as unknown as Client;
  const { options } = client;
  const node = nodeOf(client);
  return {
    keyPrefix: prefixOf(options),
    isCluster: false,
    resends: mayResend(options),
    send: node.send,
    sendAndWait: waitOn(connectionOf(client)),
    masters: () => Promise.resolve([node]),
  };
}

export function ioredisClusterPort(like: IoredisClusterLike): RedisPort {
  const cluster = like as unknown as Cluster;
  const { options } = cluster;
  const sink = new CommandSink((command) => cluster.sendCommand(command));
  const send: RedisNode["send"] = (args, routingKey) => {
    // The client finds the slot of a command by the keys of the command, and follows redirections only
    // for commands with keys.
    if (routingKey === undefined || !isKeyless(args)) return call(cluster, args, sink);
    const node = { slot: keySlot(routingKey) };
    return call(
      cluster,
      args,
      new CommandSink((command) => cluster.sendCommand(command, undefined, node)),
    );
  };
  const probe = (key: string) => send(["EXISTS", key], key);
  const topology: Topology = {
    connectionFor: (key) => topology.connectionAt(cluster.slots[keySlot(key)]?.[0] ?? ""),
    connectionAt(address) {
      const found = cluster.nodes("all").find(({ options: { host, port } }) => {
        return address === `${host}:${port}`;
      });
      return Promise.resolve(found && connectionOf(found));
    },
    refresh: probe,
  };
  const { clusterNodeRetryStrategy, retryDelayOnFailover = 0 } = options;
  return {
    keyPrefix: prefixOf(options) || prefixOf(options.redisOptions ?? {}),
    isCluster: true,
    resends:
      retryDelayOnFailover > 0 ||
      (typeof clusterNodeRetryStrategy === "function" && mayResend(options.redisOptions ?? {})),
    send,
    sendAndWait: waitInCluster(topology),
    async masters() {
      // Before the status is "ready", the client knows only the servers that it was given, which may be
      // replicas.
      if (cluster.status !== "ready") await send(["PING"], undefined);
      return cluster.nodes("master").map(nodeOf);
    },
  };
}

function prefixOf({ keyPrefix }: Options): string {
  return String(keyPrefix ?? "");
}

/**
 * Whether the client may send a command again. Without retries, the client rejects all commands when the
 * connection is lost.
 */
function mayResend({ autoResendUnfulfilledCommands, maxRetriesPerRequest }: Options): boolean {
  return autoResendUnfulfilledCommands !== false && maxRetriesPerRequest !== 0;
}

function nodeOf(client: Client): RedisNode {
  const sink = new CommandSink((command) => client.sendCommand(command));
  return { send: (args) => call(client, args, sink) };
}

/**
 * The client sends a pipeline again as a whole. If replies have begun to arrive, the client rejects the
 * rest of the pipeline instead.
 */
function connectionOf(client: Client): Connection {
  return {
    async chain(commands) {
      const pipeline = client.pipeline();
      const sink = new CommandSink((command) => pipeline.sendCommand(command));
      for (const args of commands) void call(client, args, sink);
      const results = (await pipeline.exec()) ?? [];
      return results.map(([error, reply]) => error ?? reply);
    },
  };
}

/**
 * The client looks up the name of a command several times, in lower case: pass the frequent name in lower
 * case.
 */
function call(client: Client, args: readonly string[], sink: CommandSink): Promise<unknown> {
  const name = args[0]!;
  sink.words = args.slice(1);
  return client.call.call(sink, name === "EVALSHA" ? "evalsha" : name);
}
