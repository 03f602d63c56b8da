/** `trpc-rate-limit/kysely`: a store on the application's Kysely database. */
export {
  type KyselyLike,
  kyselyStore,
  type KyselyStoreOptions,
  type KyselyTransactionOf,
  type RateLimitOverrideTable,
  type RateLimitTable,
} from "./kysely-store.js";
