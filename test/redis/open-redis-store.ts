/** Opens `redisStore` on a tested client, with a prefix of its own. */
import { randomUUID } from "node:crypto";
import type { RateLimitStore } from "../../server/index.js";
import { redisStore, type RedisStoreOptions } from "../../server/redis/index.js";
import type { ClientOptions, TestedClient } from "./redis-clients.js";

export interface OpenedRedisStore {
  store: RateLimitStore;
  close(): Promise<void>;
}

export const newPrefix = (): string => `test:${randomUUID()}:`;

export async function openRedisStore(
  tested: TestedClient,
  ports: readonly number[],
  options: RedisStoreOptions,
  clientOptions?: ClientOptions,
): Promise<OpenedRedisStore> {
  const { client, close } = await tested.open(ports, clientOptions);
  return { store: redisStore(client, options) as RateLimitStore, close };
}

/**
 * A store without the methods that Redis does not support. The contract then skips the tests of
 * transactions, and prunes through `list`.
 */
export function withoutTransactions(store: RateLimitStore): RateLimitStore {
  return { ...store, transaction: undefined, using: undefined, prune: undefined } as never;
}
