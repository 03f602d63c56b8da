import type { DriverTransactionOptions } from "../../sql/driver.js";

/** The isolation levels in SQL. */
export const LEVELS: Record<DriverTransactionOptions["isolationLevel"], string> = {
  ReadCommitted: "READ COMMITTED",
  Serializable: "SERIALIZABLE",
};
