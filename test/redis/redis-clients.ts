/**
 * The clients of Redis and Valkey that the store is tested on, created as their documentation shows. The
 * clients are packages of the project in this folder.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { RedisClientLike } from "../../server/redis/clients/recognize-client.js";

const project = new URL("package.json", import.meta.url);
const require = createRequire(project);

export const hasRedisClients = existsSync(
  fileURLToPath(new URL("node_modules/ioredis-6/package.json", import.meta.url)),
);
/** The message of a test that is skipped without these clients. */
export const NO_REDIS_CLIENTS = "needs the clients of Redis: npm run install:test-projects";

export interface OpenedClient {
  client: RedisClientLike;
  close(): Promise<void>;
}

/** Options that the client's own constructor takes. */
export type ClientOptions = Readonly<Record<string, unknown>>;

export interface TestedClient {
  name: string;
  /** Whether it connects to a cluster. */
  isCluster: boolean;
  /** @param ports the port of a single server, or the ports of some servers of a cluster. */
  open(ports: readonly number[], options?: ClientOptions): Promise<OpenedClient>;
}

type Make<TClient> = new (...args: unknown[]) => TClient;

interface Ioredis {
  on(event: "error", listener: () => void): void;
  disconnect(): void;
}

function ioredis(name: string, specifier: string): TestedClient[] {
  const load = () => {
    const { Redis, Cluster } = require(specifier) as Record<"Redis" | "Cluster", Make<Ioredis>>;
    return { Redis, Cluster };
  };
  const opened = (client: Ioredis): OpenedClient => {
    // The tests cause these outages themselves, so ignore the errors.
    client.on("error", () => {});
    return {
      client: client as unknown as RedisClientLike,
      close: async () => client.disconnect(),
    };
  };
  return [
    {
      name,
      isCluster: false,
      open: async ([port], options = {}) =>
        opened(new (load().Redis)({ host: "127.0.0.1", port, ...options })),
    },
    {
      name: `${name} Cluster`,
      isCluster: true,
      open: async (ports, options = {}) =>
        opened(new (load().Cluster)(ports.map(addressOf), options)),
    },
  ];
}

interface NodeRedis {
  on(event: "error", listener: () => void): void;
  connect(): Promise<unknown>;
  destroy(): unknown;
}

function nodeRedis(name: string, specifier: string): TestedClient[] {
  type Create = (options: object) => NodeRedis;
  const create = (kind: "createClient" | "createClientPool" | "createCluster", options: object) =>
    (require(specifier) as Record<typeof kind, Create>)[kind](options);
  const opened = async (client: NodeRedis): Promise<OpenedClient> => {
    client.on("error", () => {});
    await client.connect();
    return {
      client: client as unknown as RedisClientLike,
      async close() {
        await client.destroy();
      },
    };
  };
  const single = (kind: "createClient" | "createClientPool"): TestedClient["open"] => {
    return ([port], options = {}) => opened(create(kind, { socket: addressOf(port!), ...options }));
  };
  return [
    { name, isCluster: false, open: single("createClient") },
    { name: `${name} pool`, isCluster: false, open: single("createClientPool") },
    {
      name: `${name} cluster`,
      isCluster: true,
      open: (ports, options = {}) => {
        const rootNodes = ports.map((port) => ({ socket: addressOf(port) }));
        return opened(create("createCluster", { rootNodes, ...options }));
      },
    },
  ];
}

interface Glide {
  close(): void;
}

function glide(specifier: string): TestedClient[] {
  type Create = { createClient(options: object): Promise<Glide> };
  const kinds = { "Valkey GLIDE": "GlideClient", "Valkey GLIDE cluster": "GlideClusterClient" };
  return Object.entries(kinds).map(([name, kind]) => ({
    name,
    isCluster: kind === "GlideClusterClient",
    async open(ports, options = {}) {
      const { Logger, ...glideModule } = require(specifier) as {
        Logger: { init(level: string): void };
      } & Record<string, Create>;
      // Otherwise, the client prints each error of the server.
      Logger.init("off");
      const client = await glideModule[kind]!.createClient({
        addresses: ports.map(addressOf),
        ...options,
      });
      return {
        client: client as unknown as RedisClientLike,
        close: async () => client.close(),
      };
    },
  }));
}

export const testedClients: readonly TestedClient[] = [
  ...ioredis("ioredis 5", "ioredis"),
  ...ioredis("ioredis 6", "ioredis-6"),
  ...ioredis("iovalkey 0.3", "iovalkey-0.3"),
  ...ioredis("iovalkey 0.4", "iovalkey"),
  ...nodeRedis("node-redis 5", "redis-5"),
  ...nodeRedis("node-redis 6", "redis"),
  ...glide("@valkey/valkey-glide"),
];

export function testedClient(name: string): TestedClient {
  const found = testedClients.find((client) => client.name === name);
  if (found === undefined) throw new Error(`no client has the name ${name}`);
  return found;
}

function addressOf(port: number): { host: string; port: number } {
  return { host: "127.0.0.1", port };
}
