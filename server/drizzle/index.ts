/** `trpc-rate-limit/drizzle`: a store on the application's Drizzle database. */
export {
  type DrizzleLike,
  drizzleStore,
  type DrizzleStoreOptions,
  type DrizzleTransactionOf,
} from "./drizzle-store.js";
export type { DrizzleTableLike } from "./drizzle-symbols.js";
