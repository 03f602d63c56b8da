/** `trpc-rate-limit/kysely`: a store on the application's Kysely database. */
export {
  kyselyStore,
  type KyselyStoreOptions,
  type RateLimitOverrideTable,
  type RateLimitTable,
} from "./kysely-store.js";
