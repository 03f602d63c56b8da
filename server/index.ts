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
export { createRateLimitTRPC, type RateLimitTRPCOptions } from "./trpc/create-rate-limit-trpc.js";
export { formatRateLimitError, type RateLimitErrorShape, toTRPCError } from "./trpc/errors.js";
export type { KeyResolver, KeyResolverOptions } from "./trpc/key.js";
export type { RateLimitedCall, RateLimitedOptions } from "./trpc/rate-limited.js";
export type { AuthorizeOptions } from "./trpc/router.js";
export { countSchema, createRateLimitSchemas, keySchema, MAX_WATCHED } from "./trpc/schemas.js";
