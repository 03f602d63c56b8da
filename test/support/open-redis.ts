/** Opens `redisStore` on the URL of a server, with the prefix of its rows as a parameter. */
import { Redis, type RedisOptions } from "ioredis";
import type { RateLimitStore } from "../../server/index.js";
import { redisStore } from "../../server/redis/index.js";
import type { Open } from "./open-store.js";

export function connectRedis(url: string, options: RedisOptions = {}): Redis {
  const client = new Redis(url, options);
  // Tests that end a connection expect the store to report the error.
  client.on("error", () => {});
  return client;
}

export const openRedis: Open = (url) => {
  const { searchParams, origin, host } = new URL(url);
  const prefix = searchParams.get("prefix") ?? "";
  const client = connectRedis(origin === "null" ? `redis://${host}` : origin);
  return {
    store: redisStore(client, { prefix }) as RateLimitStore,
    run: () => client.ping(),
    close: async () => client.disconnect(),
  };
};
