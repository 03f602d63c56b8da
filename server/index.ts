export * from "../core/index.js";
export { changeDigest } from "./changes/change-digest.js";
export { createRateLimiter } from "./limiter/create-rate-limiter.js";
export type { BetterAuthError } from "./http/better-auth-error.js";
export {
  betterAuthPlugin,
  type BetterAuthCall,
  type BetterAuthPlugin,
  type BetterAuthPluginOptions,
  type BetterAuthRule,
  type BetterAuthRules,
} from "./http/better-auth-plugin.js";
export {
  betterAuthStorage,
  type BetterAuthStorage,
  type BetterAuthStorageOptions,
} from "./http/better-auth-storage.js";
export type { RateLimitRefusal } from "./hosts/refusal.js";
export {
  clientAddress,
  type ClientAddressOptions,
  type RequestHeaders,
} from "./http/client-address.js";
export { ipKey, type IpKeyOptions } from "./http/ip-key.js";
export type { LimitOfResult } from "./http/limit-of-result.js";
export {
  createRateLimitHandler,
  type RateLimitHandler,
} from "./live/handler/create-rate-limit-handler.js";
export type {
  HandlerAuthorizeOptions,
  HandlerCaller,
  HandlerKeyOptions,
  HandlerPlanOptions,
  RateLimitHandlerOptions,
} from "./live/handler/handler-options.js";
export type { NodeRequest } from "./live/handler/node-request.js";
export type { NodeResponse } from "./live/handler/node-response.js";
export { type NodeListener, toNodeHandler } from "./live/handler/to-node-handler.js";
export { type KeyAnswer, SHARED_BUCKET, type SharedBucket } from "./limiter/types/key-answer.js";
export { rateLimitHeaders } from "./http/rate-limit-headers.js";
export type { RateLimitHeadersOptions } from "./http/x-rate-limit.js";
export { rateLimitResponse, type RateLimitResponseInit } from "./http/rate-limit-response.js";
export type { AcquireOptions } from "./limiter/types/acquire.js";
export type { ChargeOptions, ChargeResult } from "./limiter/types/charge.js";
export type { KeyOptions, PlanOptions, WithConfig } from "./limiter/types/call.js";
export type {
  LimitAllFirst,
  LimitAllItem,
  LimitAllItemOf,
  LimitAllOptions,
  LimitAllResult,
} from "./limiter/types/limit-all.js";
export type { LimitConfigs, LimitName, SlotsName, TokensName } from "./limiter/types/names.js";
export type { LimitValue } from "./limiter/types/read.js";
export type { LimitOptions } from "./limiter/types/limit.js";
export type { ObserveOptions, ObserveResult } from "./limiter/types/observe.js";
export type { RefundOptions } from "./limiter/types/refund.js";
export type { SettleResult } from "./limiter/types/settle.js";
export type {
  EnterDenied,
  EnterGranted,
  EnterOptions,
  EnterResult,
} from "./limiter/types/enter.js";
export type { CreditOptions, CreditResult } from "./limiter/types/credit.js";
export type {
  LimitFirstItem,
  LimitFirstOptions,
  LimitFirstResult,
  PaidCount,
} from "./limiter/types/limit-first.js";
export type {
  AutoPruneOptions,
  DecisionEvent,
  DecisionListener,
  OperatorAction,
  PlanOption,
  RateLimiterOptions,
} from "./limiter/types/limiter-options.js";
export type { EnterOptionsOf } from "./limiter/types/enter.js";
export type { JoinedOperations } from "./limiter/types/transaction.js";
export type { LimitItem, LimitPage, ListOptions } from "./limiter/types/list.js";
export type { RateLimiter } from "./limiter/types/limiter.js";
export type { RateLimitOperations } from "./limiter/types/operations.js";
export type {
  HeldBucket,
  HoldOptions,
  NotHeld,
  ReleaseResult,
  SettledHold,
} from "./limiter/types/settle.js";
export type { OpenHold } from "./limiter/types/holds.js";
export type { HoldTerms } from "./limiter/types/hold-terms.js";
export type {
  PlanEntries,
  PlannedConfig,
  PlanQuestion,
  PlanRate,
  PlanTable,
  PlanTerms,
} from "./limiter/types/plan-types.js";
export type {
  UsageChange,
  UsageChangePage,
  UsageChangesName,
  UsageChangesOptions,
} from "./limiter/types/usage-changes.js";
export type {
  TopUsage,
  TopUsageItem,
  TopUsageOptions,
  Usage,
  UsageItem,
  UsageMonth,
  UsageName,
  UsageOfKey,
  UsageOptions,
  UsageReport,
  UsageSpan,
} from "./limiter/types/usage.js";
export type { RateLimitWarning, WarningListener } from "./limiter/types/warnings.js";
export type { RateLimitLogger } from "./report/logger.js";
export type { ChangeChannel, ChangeListener, MessageListener } from "./changes/change-channel.js";
export { postgresChannel, type PostgresChannelOptions } from "./changes/postgres-channel.js";
export type { PostgresClientLike, PostgresNotification } from "./changes/postgres-client.js";
export { lazyStore } from "./store/lazy-store.js";
export {
  memoryStore,
  type MemoryStoreOptions,
  type MemoryTransaction,
} from "./store/memory-store.js";
export {
  type D1DatabaseLike,
  type D1ResultLike,
  type D1StatementLike,
  d1Store,
  type D1StoreOptions,
} from "./store/drivers/d1.js";
export {
  type DurableStorageLike,
  durableStore,
  type DurableStoreOptions,
} from "./store/drivers/durable.js";
export type { MysqlDriverOptions } from "./store/drivers/mysql/mysql-driver.js";
export {
  mysqlStore,
  type MysqlStoreOptions,
  type MysqlTransactionOf,
} from "./store/drivers/mysql/mysql-store.js";
export type {
  MysqlCallbackPoolLike,
  MysqlConnectionLike,
  MysqlConnectionOf,
  MysqlPoolLike,
  MysqlQuery,
  MysqlQueryable,
} from "./store/drivers/mysql/mysql-client.js";
export type {
  BunSqlExecutor,
  BunSqlLike,
  BunSqlReserved,
  BunSqlTransactionOf,
} from "./store/drivers/bun-sql/bun-sql-client.js";
export type { PgDriverOptions } from "./store/drivers/pg/pg-driver.js";
export { pgStore, type PgStoreOptions, type PgTransactionOf } from "./store/drivers/pg/pg-store.js";
export type {
  PgClientLike,
  PgConnectionOf,
  PgPoolLike,
  PgSingleClientLike,
  PgQueryable,
} from "./store/drivers/pg/pg-client.js";
export type { PgHttpLike } from "./store/drivers/pg/pg-http.js";
export { prismaStore, type PrismaStoreOptions } from "./store/drivers/prisma/prisma-store.js";
export type {
  Prisma8Like,
  Prisma8Plan,
  Prisma8Queryable,
  Prisma8TransactionOf,
} from "./store/drivers/prisma/prisma-8.js";
export type { PrismaLike, PrismaRaw, TransactionOf } from "./store/drivers/prisma/prisma-client.js";
export { sqliteStore, type SqliteStoreOptions } from "./store/drivers/sqlite/sqlite-store.js";
export type {
  LibsqlClientLike,
  LibsqlExecutor,
  LibsqlResult,
  LibsqlTransactionLike,
  SqliteDatabaseLike,
  SqliteStatementLike,
  SqliteTransactionOf,
} from "./store/drivers/sqlite/sqlite-clients.js";
export type {
  DialectName,
  DriverTransactionOptions,
  SqlConnection,
  SqlDriver,
  SqlRow,
  SqlStatement,
} from "./store/sql/driver.js";
export type { BatchEvent, BatchListener } from "./store/batch-event.js";
export { sqlStore, type SqlStoreOptions } from "./store/sql-store.js";
export { UnsentError } from "./store/row-access.js";
export type {
  Call,
  Decision,
  InsideTurn,
  JoinedStore,
  Outcome,
  PlainTake,
  RateLimitStore,
  RowId,
  TransactionOptions,
} from "./store/store.js";
export type {
  ClearOverrideOptions,
  OverrideKeyOptions,
  OverrideKind,
  OverrideRule,
  RateLimitOverride,
  RateLimitOverrides,
  SetOverrideOptions,
} from "./limiter/types/override-types.js";
export type { OverrideRow, OverrideRowIds, OverrideTable } from "./store/override-table.js";
