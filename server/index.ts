export { DAY, HOUR, MINUTE, SECOND, WEEK } from "../core/durations.js";
export * from "../core/index.js";
export { createRateLimiter } from "./limiter.js";
export type {
  ChangeListener,
  KeyOptions,
  LimitConfigs,
  LimitName,
  LimitOptions,
  OptionsFor,
  RateLimiter,
  RateLimiterOptions,
} from "./limiter-types.js";
export { memoryStore, type MemoryStoreOptions } from "./store/memory-store.js";
export type { PrismaLike, PrismaRaw } from "./store/prisma/client.js";
export { prismaStore, type PrismaStoreOptions } from "./store/prisma-store.js";
export type { Call, Decision, Outcome, RateLimitStore, RowId } from "./store/store.js";
