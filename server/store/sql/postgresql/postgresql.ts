/**
 * PostgreSQL, in single statements at READ COMMITTED, whatever the number of rows. Neither a plain take
 * nor a guarded write can deadlock. A plain take of one row queues on its lock and holds no other lock.
 * A plain take of many rows locks them in the order of every process, and waits for a bounded time. A
 * guarded write skips locked rows.
 */
import type { Dialect } from "../dialect.js";
import { quotedTable } from "../sql.js";
import { CATALOG } from "./catalog.js";
import { postgresqlEngine } from "./engines.js";
import * as errors from "./errors.js";
import { postgresqlOverrides } from "./overrides.js";
import { PRUNING } from "./prune.js";
import { postgresqlLookUps, postgresqlRead } from "./reads.js";
import { postgresqlTake } from "./take.js";
import { shownColumns } from "./text.js";
import { postgresqlWriteAtOnce } from "./write-at-once.js";
import { postgresqlWrites } from "./writes.js";

export const postgresql: Dialect = {
  mark: '"',
  maxInFlight: 2,
  hasRowLocks: true,
  hasLevels: true,
  isFile: false,
  commitHidesFailure: true,
  conflictEndsTransaction: false,
  mayOutdateSnapshots: true,
  boundLockWaits: (ms) => `SET LOCAL lock_timeout = ${ms}`,
  boundStatements: (ms) => `SET LOCAL statement_timeout = ${ms}`,
  readOnlyProbe: {
    isDue: errors.isPerhapsReadOnly,
    text: (table) => `SELECT 1 FROM ${quotedTable(table)} WHERE false FOR UPDATE`,
  },
  errors,
  catalog: CATALOG,
  pruning: PRUNING,
  overrides: postgresqlOverrides,

  statements(tableName, clock, version) {
    const table = quotedTable(tableName);
    const engine = postgresqlEngine(version);
    return {
      waitingOutdatesSnapshot: engine.hasWeakLocks,
      read: postgresqlRead(table, clock, engine),
      ...postgresqlLookUps(table, engine),
      ...postgresqlWrites(table, engine),
      canUpsert: false,
      ...postgresqlTake(table, clock, shownColumns(engine)),
      mixesTerms: engine.isPostgresql,
      writeAtOnce: engine.isPostgresql ? postgresqlWriteAtOnce(table) : undefined,
    };
  },
};
