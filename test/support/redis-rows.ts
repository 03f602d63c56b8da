/**
 * Stores on the Redis or Valkey of TEST_REDIS_URL, or of this machine. Each test has a prefix of its
 * own, and removes its rows.
 */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import type { Redis, RedisOptions } from "ioredis";
import { redisStore, type RedisStoreOptions } from "../../server/redis/index.js";
import type { RateLimitStore } from "../../server/index.js";
import { connectRedis } from "./open-redis.js";

const DEFAULT_URL = "redis://127.0.0.1:6379";

/** The server for tests, or `undefined` if none answers. */
export const redisUrl =
  process.env["TEST_REDIS_URL"] ?? ((await answers(DEFAULT_URL)) ? DEFAULT_URL : undefined);

export const NO_REDIS = `TEST_REDIS_URL is not set, and no server answers at ${DEFAULT_URL}`;

export interface RedisRows {
  /** The server's URL, with the prefix as `openStore` takes it. */
  url: string;
  prefix: string;
  /** A client that the test may also use. */
  client: Redis;
  /** Opens a store on the same rows, with a client of its own, as another process would. */
  open(options?: RedisStoreOptions, clientOptions?: RedisOptions): RateLimitStore;
  [Symbol.asyncDispose](): Promise<void>;
}

export function createRedisRows(url: string = redisUrl!): RedisRows {
  const prefix = `test:${randomUUID()}:`;
  const client = connectRedis(url);
  const clients = [client];
  return {
    url: `${url}/?prefix=${prefix}`,
    prefix,
    client,
    open(options, clientOptions) {
      const own = connectRedis(url, clientOptions);
      clients.push(own);
      return redisStore(own, { prefix, ...options }) as RateLimitStore;
    },
    async [Symbol.asyncDispose]() {
      await deleteKeys(client, prefix);
      for (const each of clients) each.disconnect();
    },
  };
}

export async function deleteKeys(client: Redis, prefix: string): Promise<void> {
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1000 })) {
    if ((keys as string[]).length > 0) await client.unlink(keys as string[]);
  }
}

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const end = (isUp: boolean) => () => {
      socket.destroy();
      resolve(isUp);
    };
    socket.setTimeout(1000, end(false));
    socket.on("connect", end(true));
    socket.on("error", end(false));
  });
}
