/**
 * MySQL 8 and MariaDB 10.6 or later. MariaDB can return the rows that a statement has written, so its
 * plain take is one statement. MySQL cannot take, and every call goes the general way.
 */
import type { Dialect } from "../dialect.js";
import { quotedTable } from "../sql.js";
import { CATALOG } from "./catalog.js";
import { mysqlEngine } from "./engines.js";
import * as errors from "./errors.js";
import { createSeenRows } from "./locks.js";
import { mariaDbTake } from "./mariadb-take.js";
import { mysqlOverrides } from "./overrides.js";
import { PRUNING } from "./prune.js";
import { createReadRows, mysqlLookUps, mysqlRead } from "./reads.js";
import { mysqlWrites } from "./writes.js";

export const mysql: Dialect = {
  mark: "`",
  maxInFlight: 2,
  hasRowLocks: true,
  hasLevels: true,
  isFile: false,
  commitHidesFailure: false,
  // A deadlock ends a transaction, and so does a lock wait time-out if `innodb_rollback_on_timeout` is
  // on.
  conflictEndsTransaction: true,
  mayOutdateSnapshots: false,
  errors,
  catalog: CATALOG,
  pruning: PRUNING,
  overrides: mysqlOverrides,

  statements(tableName, clock, version) {
    const table = quotedTable(tableName, "`");
    const engine = mysqlEngine(version);
    const readRows = createReadRows(table, clock);
    const seen = createSeenRows();
    return {
      waitingOutdatesSnapshot: false,
      read: mysqlRead(table, clock, readRows, seen, engine),
      ...mysqlLookUps(table),
      ...mysqlWrites(table, readRows, seen, engine),
      canUpsert: false,
      take: engine.returnsWritten ? mariaDbTake(table, clock) : undefined,
      mixesTerms: true,
    };
  },
};
