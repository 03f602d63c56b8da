/** Pruning on PostgreSQL: each page is one statement. */
import { createParams, type Pruning } from "../prune-page.js";
import { FORMULA } from "./text.js";

const params = () => createParams((index) => `$${index}`);

export const PRUNING: Pruning = {
  formula: FORMULA,
  params,
  // A table without statistics looks as if few rows had this name. A condition that also holds for
  // later names makes the planner follow the index. Otherwise the planner sorts all rows of the name
  // for each page (50 ms instead of 1 ms at 100,000 rows).
  isBeyond: (made, name, after) =>
    after === undefined
      ? `t."name" >= ${made.text(name)}`
      : `(t."name", t."key") > (${made.text(name)}, ${made.text(after)})`,
  async remove(connection, table, { isIn, hasName, isFull }) {
    const made = params();
    // The DELETE finds its rows by the primary key. Measured and rejected: repeating the range of keys
    // in the DELETE, which makes the planner compare every row with every other row (100 times as
    // long).
    const text = `WITH l AS MATERIALIZED (
        SELECT t."key", t."shard" FROM ${table} AS t
        WHERE ${isIn(made)} AND ${isFull(made)} FOR UPDATE OF t SKIP LOCKED
      )
      DELETE FROM ${table} AS t USING l
      WHERE ${hasName(made)} AND t."key" = l."key" AND t."shard" = l."shard" AND ${isFull(made)}`;
    return connection.execute(text, made.values);
  },
};
