/** Connects to Redis or Valkey through a client that the application has installed. */
import type { RedisClientLike } from "../../server/redis/index.js";
import { loadPackage } from "../doctor/load-package.js";
import { NoDriverError } from "../doctor/connect.js";

export interface Redis {
  /** The package that connects. */
  driver: string;
  client: RedisClientLike;
  send(args: readonly string[]): Promise<unknown>;
  close(): void;
}

/** How long to wait for a connection, ms. */
const PATIENCE = 5000;

interface Ioredis {
  call(command: string, ...args: string[]): Promise<unknown>;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: "error", listener: () => void): void;
}

interface NodeRedis {
  sendCommand(args: readonly string[]): Promise<unknown>;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: "error", listener: () => void): void;
}

type Connect = (module: never, url: string) => Promise<Omit<Redis, "driver">>;

/** The clients, in the order in which they are tried. */
const CLIENTS: [name: string, connect: Connect][] = [
  ["ioredis", connectIoredis],
  ["redis", connectNodeRedis],
  ["iovalkey", connectIoredis],
];

/** @throws NoDriverError when the application has no client. */
export async function connectRedis(folders: readonly string[], url: string): Promise<Redis> {
  for (const [driver, connect] of CLIENTS) {
    for (const folder of folders) {
      const module = await loadPackage(folder, driver);
      if (module !== undefined) return { driver, ...(await connect(module as never, url)) };
    }
  }
  throw new NoDriverError(CLIENTS.map(([name]) => name));
}

async function connectIoredis(
  module: { Redis: new (url: string, options: object) => Ioredis },
  url: string,
): Promise<Omit<Redis, "driver">> {
  const options = { connectTimeout: PATIENCE, maxRetriesPerRequest: 1, lazyConnect: true };
  const client = new module.Redis(url, options);
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    throw error;
  }
  return {
    client: client as never,
    send: ([command, ...args]) => client.call(command!, ...args),
    close: () => client.disconnect(),
  };
}

async function connectNodeRedis(
  module: { createClient(options: object): NodeRedis },
  url: string,
): Promise<Omit<Redis, "driver">> {
  const socket = { connectTimeout: PATIENCE, reconnectStrategy: false };
  const client = module.createClient({ url, socket });
  client.on("error", () => {});
  await client.connect();
  return {
    client: client as never,
    send: (args) => client.sendCommand([...args]),
    close: () => client.destroy(),
  };
}
