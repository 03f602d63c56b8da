/**
 * Deletes full rows by arithmetic inside SQL, a page of keys at a time. Each page is a short
 * statement, or on MySQL a short transaction. It skips rows that are locked, so it never waits, and
 * cannot be part of a deadlock. The test for fullness is also the guard: the database evaluates it
 * on the version of the row that it deletes.
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
 * No row of a config in range has numbers above this. A database raises an error if arithmetic
 * leaves the range of doubles, so rows with such numbers are kept.
 */
const LARGEST = "1e60";

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
  { dialect: { mark, pruning }, table: tableName, connection, isConflict, store }: SqlPruneOptions,
  { configs, before }: PruneTerms,
): AsyncGenerator<number, void, undefined> {
  const table = quotedTable(tableName, mark);
  const column = (name: string) => `t.${quoted(name, mark)}`;

  function isFull(made: Params, config: PeriodicConfig): string {
    if (isCredits(config)) return `${column("value")} = 0`;
    const { rate, period, kind } = config;
    const capacity = capacityOf(config);
    const held = pruning.formula.held(kind, {
      value: () => column("value"),
      ts: () => column("ts"),
      rate: () => made.number(rate),
      period: () => made.number(period),
      capacity: () => made.number(capacity),
      now: () => made.number(before),
    });
    return `${held} >= ${made.number(capacity)}`;
  }

  function isInRange(made: Params, { name, after, last }: KeyRange): string {
    const bounds = [`${column("name")} = ${made.text(name)}`];
    if (after !== undefined) bounds.push(`${column("key")} > ${made.text(after)}`);
    if (last !== undefined) bounds.push(`${column("key")} <= ${made.text(last)}`);
    return bounds.join(" AND ");
  }

  /** The last key of the page after `after`; `undefined` for the last page. */
  async function lastKey(name: string, after: string | undefined): Promise<string | undefined> {
    const made = pruning.params();
    const isBeyond =
      pruning.isBeyond?.(made, name, after) ?? isInRange(made, { name, after, last: undefined });
    const id = ["name", "key", "shard"].map(column);
    const [row] = await connection.query(
      `SELECT ${id.join(", ")} FROM ${table} AS t WHERE ${isBeyond} ` +
        `ORDER BY ${id.join(", ")} LIMIT 1 OFFSET ${PAGE - 1}`,
      made.values,
    );
    return row?.["name"] === name ? (row["key"] as string) : undefined;
  }

  for (const [given, all] of configs) {
    if (!all.every(isPrunable)) {
      yield* pruneByList(store, { configs: new Map([[given, all]]), before });
      continue;
    }
    const name = pruning.stored?.(given) ?? given;
    let after: string | undefined;
    do {
      const last = await retryConflicts(() => lastKey(name, after), { isConflict });
      const page: Page = {
        isIn: (made) => isInRange(made, { name, after, last }),
        hasName: (made) => `${column("name")} = ${made.text(name)}`,
        // CASE fixes the order of evaluation, which AND does not.
        isFull: (made) =>
          `CASE WHEN abs(${column("value")}) < ${LARGEST} AND abs(${column("ts")}) < ${LARGEST} ` +
          `THEN ${all.map((config) => isFull(made, config)).join(" AND ")} ELSE 1 = 0 END`,
      };
      yield await retryConflicts(() => pruning.remove(connection, table, page), { isConflict });
      // A synchronous driver lets no other work of this process run.
      await nextTick();
      after = last;
    } while (after !== undefined);
  }
}
