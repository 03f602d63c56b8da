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
import type { Connection } from "./dialect.js";
import type { DialectName } from "./driver.js";
import { heldSql } from "./formula.js";
import { jsonTable, storedText, TEXT } from "./mysql/text.js";
import { quoted, quotedTable, type TableName } from "./sql.js";

/** The keys of a name that are above `after`, up to and including `last`. */
interface KeyRange {
  name: string;
  after: string | undefined;
  /** `undefined`: there is no upper bound. */
  last: string | undefined;
}

/** A statement under construction. Each method adds a parameter and returns its placeholder. */
interface Params {
  readonly values: unknown[];
  text(value: string): string;
  number(value: number): string;
}

interface PruneSyntax {
  /** Holds for the rows of a name after a key, and perhaps for those of later names. */
  isBeyond?(made: Params, name: string, after: string | undefined): string;
  readonly quote: '"' | "`";
  params(): Params;
  /** Deletes the full rows of a page. Resolves with their number. */
  remove(connection: Connection, table: string, page: Page): Promise<number>;
}

/** Conditions on a row `t`, made anew for each place of a statement that needs them. */
interface Page {
  /** The row is in the page. */
  isIn(params: Params): string;
  hasName(params: Params): string;
  isFull(params: Params): string;
}

function params(place: (index: number) => string, number = place): Params {
  const values: unknown[] = [];
  return {
    values,
    text: (value) => place(values.push(value)),
    number: (value) => number(values.push(value)),
  };
}

const POSTGRESQL: PruneSyntax = {
  // A table without statistics looks as if few rows had this name. A condition that also holds for
  // later names makes the planner follow the index. Otherwise it sorts all rows of the name for
  // each page (50 ms instead of 1 ms at 100,000 rows).
  isBeyond: (made, name, after) =>
    after === undefined
      ? `t."name" >= ${made.text(name)}`
      : `(t."name", t."key") > (${made.text(name)}, ${made.text(after)})`,
  quote: '"',
  params: () => params((index) => `$${index}`),
  async remove(connection, table, { isIn, hasName, isFull }) {
    const made = this.params();
    // The DELETE finds its rows by the primary key. Measured and rejected: to repeat the range of
    // keys there, which makes the planner compare every row with every other one (100 times as long).
    const text = `WITH l AS MATERIALIZED (
        SELECT t."key", t."shard" FROM ${table} AS t
        WHERE ${isIn(made)} AND ${isFull(made)} FOR UPDATE OF t SKIP LOCKED
      )
      DELETE FROM ${table} AS t USING l
      WHERE ${hasName(made)} AND t."key" = l."key" AND t."shard" = l."shard" AND ${isFull(made)}`;
    return connection.execute(text, made.values);
  },
};

const SQLITE: PruneSyntax = {
  quote: '"',
  params: () => params(() => "?"),
  async remove(connection, table, page) {
    // A DELETE takes the lock of the whole database, so look first whether it has anything to do.
    if (!(await hasFullRows(this, connection, table, page))) return 0;
    const made = this.params();
    const text = `DELETE FROM ${table} AS t WHERE ${page.isIn(made)} AND ${page.isFull(made)}`;
    return connection.execute(text, made.values);
  },
};

const MYSQL: PruneSyntax = {
  quote: "`",
  params: () =>
    params(
      () => "?",
      // Without the cast, the parameters and their quotients would be decimals.
      () => "CAST(? AS DOUBLE)",
    ),
  async remove(connection, table, page) {
    // Look without locks first: a page without full rows then locks nothing.
    if (!(await hasFullRows(this, connection, table, page))) return 0;
    return connection.transaction!(async (tx) => {
      const locking = this.params();
      const rows = await tx.query(
        `SELECT t.\`key\`, t.\`shard\` FROM ${table} AS t FORCE INDEX (PRIMARY) ` +
          `WHERE ${page.isIn(locking)} AND ${page.isFull(locking)} FOR UPDATE SKIP LOCKED`,
        locking.values,
      );
      if (rows.length === 0) return 0;
      const made = this.params();
      // The parameter of the list, which comes first.
      made.text(JSON.stringify(rows.map(({ key, shard }) => [key, Number(shard)])));
      const text =
        `DELETE t FROM ${jsonTable([`\`key\` ${TEXT}`, "`shard` INT"])} ` +
        `STRAIGHT_JOIN ${table} AS t FORCE INDEX (PRIMARY) ON t.\`key\` = i.\`key\` AND t.\`shard\` = i.\`shard\` ` +
        `WHERE ${page.hasName(made)} AND ${page.isFull(made)}`;
      return tx.execute(text, made.values);
    });
  },
};

/** Looks for a full row without a lock. */
async function hasFullRows(
  syntax: PruneSyntax,
  connection: Connection,
  table: string,
  { isIn, isFull }: Page,
): Promise<boolean> {
  const made = syntax.params();
  const text = `SELECT 1 AS found FROM ${table} AS t WHERE ${isIn(made)} AND ${isFull(made)} LIMIT 1`;
  return (await connection.query(text, made.values)).length > 0;
}

const SYNTAX: Record<DialectName, PruneSyntax> = {
  postgresql: POSTGRESQL,
  sqlite: SQLITE,
  mysql: MYSQL,
};

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
  dialectName: DialectName;
  table: TableName;
  connection: Connection;
  isConflict(error: unknown): boolean;
  /** For limits with numbers that SQL cannot calculate with. */
  store: Required<Pick<RateLimitStore, "apply" | "list">>;
}

export async function* pruneSql(
  { dialectName, table: tableName, connection, isConflict, store }: SqlPruneOptions,
  { configs, before }: PruneTerms,
): AsyncGenerator<number, void, undefined> {
  const syntax = SYNTAX[dialectName];
  const table = quotedTable(tableName, syntax.quote);
  const column = (name: string) => `t.${quoted(name, syntax.quote)}`;

  function isFull(made: Params, config: PeriodicConfig): string {
    if (isCredits(config)) return `${column("value")} = 0`;
    const { rate, period, kind } = config;
    const capacity = capacityOf(config);
    const held = heldSql(dialectName, kind, {
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
    const made = syntax.params();
    const isBeyond =
      syntax.isBeyond?.(made, name, after) ?? isInRange(made, { name, after, last: undefined });
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
    const name = dialectName === "mysql" ? storedText(given) : given;
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
      yield await retryConflicts(() => syntax.remove(connection, table, page), { isConflict });
      // A synchronous driver lets no other work of this process run.
      await nextTick();
      after = last;
    } while (after !== undefined);
  }
}
