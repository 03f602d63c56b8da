/**
 * Deletes full rows by arithmetic inside SQL, a page of keys at a time. Each page is a short statement,
 * or on MySQL a short transaction. The statement skips rows that are locked, so it never waits, and
 * cannot be part of a deadlock. The test for fullness is also the guard: the database evaluates it on
 * the version of the row that it deletes.
 *
 * Measured and rejected: one DELETE per limit (it holds its locks until the last row).
 */
import { capacityOf, type PeriodicConfig, type Bucket } from "../../../core/config.js";
import { isCredits } from "../../../core/rows/credits.js";
import { nextTick } from "../../timers/next-tick.js";
import { pruneByList } from "../prune-by-list.js";
import { retryConflicts } from "../retry-conflicts.js";
import { isInRangeOfSql } from "../plain-path.js";
import type { PruneTerms, RateLimitStore } from "../store.js";
import type { Connection } from "./connection.js";
import type { Dialect } from "./dialect.js";
import type { Page, Params } from "./prune-page.js";
import { quoted, quotedTable, type TableName } from "./sql.js";

/** The keys of a name that are above `after`, up to and including `last`. */
interface KeyRange {
  name: string;
  after: string | undefined;
  /** `undefined`: there is no upper bound. */
  last: string | undefined;
}

/** Keys per page. A page has more rows than that if its last key has several shards. */
const PAGE = 1000;

/**
 * Rows with numbers above this are kept: a database raises an error if arithmetic leaves the range of
 * doubles. No closed row, and no row of a config in range, has such numbers.
 */
const LARGEST = "1e61";

function isPrunable(config: Bucket): config is PeriodicConfig {
  return isCredits(config) || isInRangeOfSql(config);
}

export interface SqlPruneOptions {
  dialect: Pick<Dialect, "mark" | "pruning">;
  table: TableName;
  connection: Connection;
  isConflict(error: unknown): boolean;
  /** For limits with numbers that SQL cannot calculate with. */
  store: Required<Pick<RateLimitStore, "apply" | "list">>;
}

export async function* pruneSql(
  { dialect, table: tableName, connection, isConflict, store }: SqlPruneOptions,
  { configs, before }: PruneTerms,
): AsyncGenerator<number, void, undefined> {
  const { mark, pruning } = dialect;
  const table = quotedTable(tableName, mark);
  const conditions = conditionsOf(dialect, before);
  for (const [given, all] of configs) {
    if (!all.every(isPrunable)) {
      yield* pruneByList(store, { configs: new Map([[given, all]]), before });
      continue;
    }
    const name = pruning.stored?.(given) ?? given;
    let after: string | undefined;
    do {
      const made = pruning.params();
      const text = lastKeyText(table, conditions, made, { name, after, last: undefined });
      const [row] = await retryConflicts(() => connection.query(text, made.values), { isConflict });
      // If there is no such row, or if the row has a later name, this is the last page.
      const last = row?.["name"] === name ? (row["key"] as string) : undefined;
      const page: Page = {
        isIn: (params) => conditions.isInRange(params, { name, after, last }),
        hasName: (params) => conditions.hasName(params, name),
        isFull: (params) => conditions.areFull(params, all),
      };
      yield await retryConflicts(() => pruning.remove(connection, table, page), { isConflict });
      // A synchronous driver lets no other work of this process run.
      await nextTick();
      after = last;
    } while (after !== undefined);
  }
}

interface Conditions {
  column(name: string): string;
  hasName(made: Params, name: string): string;
  isInRange(made: Params, range: KeyRange): string;
  isBeyond(made: Params, range: KeyRange): string;
  /** The row is full by all of these configs. */
  areFull(made: Params, configs: readonly PeriodicConfig[]): string;
}

function conditionsOf({ mark, pruning }: SqlPruneOptions["dialect"], before: number): Conditions {
  const column = (name: string) => `t.${quoted(name, mark)}`;
  const hasName = (made: Params, name: string) => `${column("name")} = ${made.text(name)}`;

  function isFull(made: Params, config: PeriodicConfig): string {
    if (isCredits(config)) return `${column("used")} = 0`;
    const { rate, period, kind } = config;
    const capacity = capacityOf(config);
    return pruning.formula.isFull(kind, {
      used: () => column("used"),
      ts: () => column("ts"),
      rate: () => made.number(rate),
      period: () => made.number(period),
      capacity: () => made.number(capacity),
      // A window opens with the tokens of one window.
      opened: () => made.number(kind === "fixed window" ? capacity - rate : capacity),
      now: () => made.number(before),
    });
  }

  function isInRange(made: Params, { name, after, last }: KeyRange): string {
    const bounds = [hasName(made, name)];
    if (after !== undefined) bounds.push(`${column("key")} > ${made.text(after)}`);
    if (last !== undefined) bounds.push(`${column("key")} <= ${made.text(last)}`);
    return bounds.join(" AND ");
  }

  return {
    column,
    hasName,
    isInRange,
    isBeyond: (made, range) =>
      pruning.isBeyond?.(made, range.name, range.after) ?? isInRange(made, range),
    // CASE fixes the order of evaluation, which AND does not.
    areFull: (made, configs) =>
      `CASE WHEN abs(${column("used")}) < ${LARGEST} AND abs(${column("ts")}) < ${LARGEST} ` +
      `THEN ${configs.map((config) => isFull(made, config)).join(" AND ")} ELSE 1 = 0 END`,
  };
}

/** The text that finds the last key of the page after `after`. */
function lastKeyText(
  table: string,
  { column, isBeyond }: Conditions,
  made: Params,
  range: KeyRange,
): string {
  const id = ["name", "key", "shard"].map(column).join(", ");
  return (
    `SELECT ${id} FROM ${table} AS t WHERE ${isBeyond(made, range)} ` +
    `ORDER BY ${id} LIMIT 1 OFFSET ${PAGE - 1}`
  );
}
