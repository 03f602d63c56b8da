/** Connects to Redis or Valkey through a client that the application has installed. */
import type { RedisClientLike } from "../../server/redis/index.js";
import { loadPackage } from "../doctor/load-package.js";
import { NoDriverError } from "../doctor/connect.js";
import { within } from "./waits.js";

export interface Redis {
  /** The package that connects. */
  driver: string;
  client: RedisClientLike;
  send(args: readonly string[]): Promise<unknown>;
  close(): void;
}

/** How long to wait for a connection, and for the answer to a command of this file's users, ms. */
const PATIENCE = 5000;

interface Ioredis {
  call(command: string, ...args: string[]): Promise<unknown>;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: "error", listener: (error: unknown) => void): void;
}

interface NodeRedis {
  isOpen: boolean;
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
  // It rejects with "Connection is closed." for a wrong password, and accepts a database that is not there.
  let why: unknown;
  client.on("error", (error) => (why ??= error));
  try {
    await within(PATIENCE, client.connect());
    if (why !== undefined) throw why;
  } catch (error) {
    client.disconnect();
    throw why ?? error;
  }
  return {
    client: client as never,
    send: ([command, ...args]) => within(PATIENCE, client.call(command!, ...args)),
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
  // A client that is closed throws.
  const close = () => void (client.isOpen && client.destroy());
  try {
    await within(PATIENCE, client.connect());
  } catch (error) {
    close();
    throw error;
  }
  return {
    client: client as never,
    send: (args) => within(PATIENCE, client.sendCommand([...args])),
    close,
  };
}
