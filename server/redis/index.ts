/** The entry point `trpc-rate-limit/redis`. */
export type { RedisClientLike } from "./clients/recognize-client.js";
export {
  redisChannel,
  type RedisChannelOptions,
  type RedisSubscriberLike,
} from "./redis-channel.js";
export { redisStore, type RedisStoreOptions } from "./redis-store.js";
export type { WaitOptions } from "./run-script.js";
