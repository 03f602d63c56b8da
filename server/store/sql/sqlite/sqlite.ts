/**
 * SQLite. A statement that writes holds SQLite's write lock from its first step, so a statement that
 * reads, decides and writes is atomic by itself. Such a statement needs no transaction, and avoids the
 * busy errors of a read followed by a write when two processes share a file.
 */
import type { Dialect } from "../dialect.js";
import { quotedTable } from "../sql.js";
import { CATALOG } from "./catalog.js";
import * as errors from "./errors.js";
import { sqliteOverrides } from "./overrides.js";
import { PRUNING } from "./prune.js";
import { sqliteReads } from "./reads.js";
import { transactAtOnce } from "./rows-at-once.js";
import { sqliteTake } from "./take.js";
import { sqliteWrites } from "./writes.js";

export const sqlite: Dialect = {
  mark: '"',
  // SQLite has only one writer at a time.
  maxInFlight: 1,
  hasRowLocks: false,
  hasLevels: false,
  isFile: true,
  commitHidesFailure: false,
  conflictEndsTransaction: false,
  mayOutdateSnapshots: false,
  errors,
  catalog: CATALOG,
  pruning: PRUNING,
  transactAtOnce,
  overrides: sqliteOverrides,

  statements(tableName, clock) {
    const table = quotedTable(tableName);
    return {
      waitingOutdatesSnapshot: false,
      ...sqliteReads(table, clock),
      ...sqliteWrites(table),
      take: sqliteTake(table, clock),
      mixesTerms: true,
    };
  },
};
