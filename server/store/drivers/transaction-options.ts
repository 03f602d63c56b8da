/** The options of a transaction, for drivers of clients that have none of their own. */
import type { DriverTransactionOptions } from "../sql/driver.js";

/** How long to wait for a connection, ms; the default of Prisma. */
export const MAX_WAIT = 2000;
/** How long a transaction may take, ms; the default of Prisma. */
export const TIMEOUT = 5000;

/** The isolation levels in SQL. */
export const LEVELS: Record<DriverTransactionOptions["isolationLevel"], string> = {
  ReadCommitted: "READ COMMITTED",
  Serializable: "SERIALIZABLE",
};
