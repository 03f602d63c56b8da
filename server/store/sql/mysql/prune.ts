/** Pruning on MySQL and MariaDB: each page is a short transaction. */
import { createParams, hasFullRows, type Pruning } from "../prune-page.js";
import { FORMULA, jsonTable, storedText, TEXT } from "./text.js";

const params = () =>
  createParams(
    () => "?",
    // Without the cast, the parameters and their quotients would be decimals.
    () => "CAST(? AS DOUBLE)",
  );

export const PRUNING: Pruning = {
  formula: FORMULA,
  params,
  stored: storedText,
  async remove(connection, table, page) {
    // Look without locks first: a page without full rows then locks nothing.
    if (!(await hasFullRows(params(), connection, table, page))) return 0;
    return connection.transaction!(async (tx) => {
      const locking = params();
      const rows = await tx.query(
        `SELECT t.\`key\`, t.\`shard\` FROM ${table} AS t FORCE INDEX (PRIMARY) ` +
          `WHERE ${page.isIn(locking)} AND ${page.isFull(locking)} FOR UPDATE SKIP LOCKED`,
        locking.values,
      );
      if (rows.length === 0) return 0;
      const made = params();
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
