/**
 * The pool that the application has given to Prisma's adapter for PostgreSQL, `new PrismaPg(pool)`. The
 * limiter's own statements go to this pool, too: through Prisma they take almost twice the time.
 *
 * The pool of `new PrismaPg({ connectionString })` cannot be reached. The client keeps what `connect`
 * of the adapter returns in a private field, and calls `connect` again after a `$disconnect`. Rejected:
 * replacing `connect`. A client that is connected already would not call the replacement, and `connect`
 * is not told which of several clients calls it.
 */
import type { SqlConnection, SqlDriver } from "../../sql/driver.js";
import { pgDriver, type PgDriverOptions } from "../pg/pg-driver.js";
import type { PgPoolLike } from "../pg/pg-client.js";
import type { ClientInternals } from "./prisma-client.js";

/** Members of the adapter and of the pool of `pg` that their types do not show. */
interface Adapter {
  adapterName?: unknown;
  /** `null` without a pool of the application, and after the adapter has ended the pool. */
  externalPool?: (PgPoolLike & { ending?: boolean }) | null;
}

/** The pool of the application, if the client sends its raw statements there unchanged. */
export function poolOf(prisma: object): PgPoolLike | undefined {
  const { _engineConfig: config } = prisma as ClientInternals;
  const { adapterName, externalPool } = (config?.adapter ?? {}) as Adapter;
  if (adapterName !== "@prisma/adapter-pg" || typeof externalPool?.connect !== "function") {
    return undefined;
  }
  return hasHooks(prisma) ? undefined : externalPool;
}

const RAW = ["$queryRawUnsafe", "$executeRawUnsafe"];

/** Whether an extension of the client changes raw statements, or only wants to see them. */
function hasHooks(prisma: object): boolean {
  const { _extensions: extensions } = prisma as ClientInternals;
  if (extensions === undefined || extensions.isEmpty?.() === true) return false;
  const hooksOf = extensions.getAllQueryCallbacks?.bind(extensions);
  return hooksOf === undefined || RAW.some((operation) => hooksOf("$none", operation).length > 0);
}

/**
 * Sends statements to the pool for as long as the adapter uses it, and later to Prisma: with
 * `disposeExternalPool`, a `$disconnect` ends the pool, and Prisma opens another one.
 *
 * @param driver of the Prisma client.
 */
export function throughPoolOf(
  prisma: object,
  pool: PgPoolLike,
  driver: SqlDriver,
  { prepare }: PgDriverOptions,
): SqlDriver<SqlConnection> {
  const { _engineConfig: config } = prisma as ClientInternals;
  const adapter = config?.adapter as Adapter;
  const pooled = pgDriver(pool, { prepare: prepare ?? "if direct" });
  const isOpen = () => adapter.externalPool === pool && adapter.externalPool.ending !== true;
  const chosen = () => (isOpen() ? pooled : driver);
  const { onPoolError } = pooled;
  return {
    dialect: driver.dialect,
    query: (...query) => chosen().query(...query),
    execute: (...query) => chosen().execute(...query),
    within: (connection) => connection,
    transaction(run, options) {
      const { transaction, within } = chosen();
      return transaction!((tx) => run(within(tx)), options);
    },
    isExhausted: () => isOpen() && pooled.isExhausted!(),
    ...(onPoolError && { onPoolError }),
  };
}
