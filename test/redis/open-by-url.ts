/**
 * Opens `redisStore` on a tested client by a URL that contains all options, for processes of their own:
 * `redis://127.0.0.1/?client=ioredis+5&ports=7000,7001&prefix=test:&tags=12&wait=1`.
 */
import type { RateLimitStore } from "../../server/index.js";
import type { RedisStoreOptions } from "../../server/redis/index.js";
import type { Open } from "../support/open-store.js";
import { openRedisStore, type OpenedRedisStore } from "./open-redis-store.js";
import { testedClient } from "./redis-clients.js";

export function urlFor(
  client: string,
  ports: readonly number[],
  { prefix = "", tags = 12, wait }: RedisStoreOptions,
): string {
  const url = new URL("redis://127.0.0.1/");
  url.searchParams.set("client", client);
  url.searchParams.set("ports", ports.join());
  url.searchParams.set("prefix", prefix);
  url.searchParams.set("tags", String(tags));
  if (wait !== undefined) url.searchParams.set("wait", String(wait.timeout));
  return url.href;
}

/** Some clients open asynchronously. `run` waits until the client is open. */
export const openRedisClient: Open = (url) => {
  const { searchParams } = new URL(url);
  const ports = searchParams.get("ports")!.split(",").map(Number);
  const timeout = searchParams.get("wait");
  let opened: OpenedRedisStore | undefined;
  const opening = openRedisStore(testedClient(searchParams.get("client")!), ports, {
    prefix: searchParams.get("prefix")!,
    tags: Number(searchParams.get("tags")),
    wait: timeout === null ? undefined : { replicas: 1, timeout: Number(timeout) },
  }).then((result) => (opened = result));
  const store: RateLimitStore = {
    apply: async (decisions, call) => (await opening).store.apply(decisions, call),
    clock: () => opened?.store.clock?.() ?? Date.now(),
  };
  return {
    store,
    run: () => opening,
    close: async () => (await opening).close(),
  };
};
