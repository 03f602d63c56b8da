export * from "../core/index.js";
export { changeDigest } from "./change-digest.js";
export { createRateLimiter } from "./limiter.js";
export {
  betterAuthStorage,
  type BetterAuthStorage,
  type BetterAuthStorageOptions,
} from "./better-auth-storage.js";
export { ipKey, type IpKeyOptions } from "./http/ip-key.js";
export type { LimitOfResult } from "./http/limit-of-result.js";
export { rateLimitHeaders } from "./http/rate-limit-headers.js";
export { rateLimitResponse, type RateLimitResponseInit } from "./http/rate-limit-response.js";
export type {
  AcquireOptions,
  ChargeOptions,
  ChargeResult,
  KeyOptions,
  LimitAllItem,
  LimitAllItemOf,
  LimitAllOptions,
  LimitAllResult,
  LimitConfigs,
  LimitName,
  LimitValue,
  LimitOptions,
  RefundOptions,
  WithConfig,
} from "./call-options.js";
export type {
  AutoPruneOptions,
  ChangeChannel,
  ChangeListener,
  DecisionEvent,
  LimitItem,
  LimitPage,
  ListOptions,
  PruneOptions,
  RateLimiter,
  RateLimiterOptions,
  RateLimitOperations,
} from "./limiter-types.js";
export type { RateLimitLogger } from "./logger.js";
export {
  postgresChannel,
  type PostgresChannelOptions,
  type PostgresClientLike,
  type PostgresNotification,
} from "./postgres-channel.js";
export {
  memoryStore,
  type MemoryStoreOptions,
  type MemoryTransaction,
} from "./store/memory-store.js";
export {
  type MysqlDriverOptions,
  mysqlStore,
  type MysqlStoreOptions,
} from "./store/drivers/mysql.js";
export type {
  MysqlCallbackPoolLike,
  MysqlConnectionLike,
  MysqlConnectionOf,
  MysqlPoolLike,
  MysqlQuery,
  MysqlQueryable,
} from "./store/drivers/mysql-client.js";
export { type PgDriverOptions, pgStore, type PgStoreOptions } from "./store/drivers/pg.js";
export type {
  PgClientLike,
  PgConnectionOf,
  PgPoolLike,
  PgQueryable,
} from "./store/drivers/pg-client.js";
export { prismaStore, type PrismaStoreOptions } from "./store/drivers/prisma.js";
export type {
  Prisma8Like,
  Prisma8Plan,
  Prisma8Queryable,
  Prisma8TransactionOf,
} from "./store/drivers/prisma-8-client.js";
export type { PrismaLike, PrismaRaw, TransactionOf } from "./store/drivers/prisma-client.js";
export { sqliteStore, type SqliteStoreOptions } from "./store/drivers/sqlite.js";
export type {
  LibsqlClientLike,
  LibsqlExecutor,
  LibsqlResult,
  LibsqlTransactionLike,
  SqliteDatabaseLike,
  SqliteStatementLike,
  SqliteTransactionOf,
} from "./store/drivers/sqlite-clients.js";
export type {
  DialectName,
  DriverTransactionOptions,
  SqlConnection,
  SqlDriver,
  SqlRow,
} from "./store/sql/driver.js";
export type { BatchEvent, BatchListener } from "./store/batch-event.js";
export { sqlStore, type SqlStoreOptions } from "./store/sql-store.js";
export { UnsentError } from "./store/row-access.js";
export type {
  Call,
  Decision,
  Outcome,
  PlainTake,
  RateLimitStore,
  RowId,
  TransactionOptions,
} from "./store/store.js";
export { createRateLimitTRPC, type RateLimitTRPCOptions } from "./trpc/create-rate-limit-trpc.js";
export { formatRateLimitError, type RateLimitErrorShape, toTRPCError } from "./trpc/errors.js";
export type { ConfigResolver, ConfigResolverOptions } from "./trpc/resolve-config.js";
export {
  type KeyAnswer,
  type KeyResolver,
  type KeyResolverOptions,
  SHARED_BUCKET,
  type SharedBucket,
} from "./trpc/resolve-key.js";
export type {
  ChargeOnErrorOptions,
  Granted,
  RateLimited,
  RateLimitedCall,
  RateLimitedOptions,
  SettledCounts,
} from "./trpc/rate-limited-types.js";
export {
  rateLimitResponseMeta,
  type RateLimitResponseMetaOptions,
} from "./trpc/response-headers.js";
export type { AuthorizeOptions } from "./trpc/router.js";
export { countSchema, createRateLimitSchemas, keySchema, MAX_WATCHED } from "./trpc/schemas.js";
