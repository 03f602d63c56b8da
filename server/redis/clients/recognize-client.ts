/**
 * Recognizes a client by its shape: the package imports no client, and an application may have two
 * versions of the same client.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import type { RedisPort } from "../redis-port.js";
import { type GlideLike, glidePort, isGlide } from "./glide.js";
import {
  type IoredisClusterLike,
  ioredisClusterPort,
  type IoredisLike,
  ioredisPort,
  isIoredis,
  isIoredisCluster,
} from "./ioredis.js";
import {
  isNodeRedis,
  isNodeRedisCluster,
  type NodeRedisClusterLike,
  nodeRedisClusterPort,
  type NodeRedisLike,
  nodeRedisPort,
} from "./node-redis.js";
import { hasMethods, property } from "./shape.js";
import { isUpstash, type UpstashLike, upstashPort } from "./upstash.js";

/**
 * A client of Redis or Valkey: ioredis 5 and 6, iovalkey, node-redis 5 and 6, Valkey GLIDE 2, each
 * single or for a cluster, or `@upstash/redis`.
 */
export type RedisClientLike =
  IoredisLike | IoredisClusterLike | NodeRedisLike | NodeRedisClusterLike | GlideLike | UpstashLike;

/** @throws RateLimitConfigError for anything else. */
export function redisPort(client: RedisClientLike): RedisPort {
  const object: unknown = client;
  if (typeof object === "object" && object !== null) {
    if (isIoredis(object)) {
      return isIoredisCluster(object) ? ioredisClusterPort(object) : ioredisPort(object);
    }
    if (isNodeRedisCluster(object)) return nodeRedisClusterPort(object);
    if (isNodeRedis(object)) return nodeRedisPort(object);
    if (isGlide(object)) return glidePort(object);
    if (isUpstash(object)) return upstashPort(object);
  }
  throw new RateLimitConfigError("client", client, { message: problemWith(object) });
}

const KNOWN =
  "ioredis 5 or 6, iovalkey, node-redis 5 or 6, Valkey GLIDE 2 or @upstash/redis, single or for a cluster";

/** The message must not show the client, which has passwords. */
function problemWith(client: unknown): string {
  const wants = `redisStore needs a client of ${KNOWN}`;
  if (client instanceof Promise) return `${wants}; this is a promise: await it first`;
  if (typeof client === "object" && client !== null) {
    if (hasMethods(client, "sendCommand", "acquire")) {
      return `${wants}; node-redis's createSentinel is not supported: use ioredis with sentinels`;
    }
    if (typeof property(client, "isOpen") === "boolean") {
      return `${wants}; node-redis 4 is not supported: update the package redis to 5 or later`;
    }
    if (hasMethods(client, "call", "exec")) return `${wants}; this is a pipeline of one`;
  }
  return wants;
}
