/** The entry point `trpc-rate-limit/redis`. */
export { redisStore, type RedisStoreOptions } from "./redis-store.js";
