/** Pruning on SQLite: each page is one statement, after a look. */
import { createParams, hasFullRows, type Pruning } from "../prune-page.js";
import { FORMULA } from "./text.js";

const params = () => createParams(() => "?");

export const PRUNING: Pruning = {
  formula: FORMULA,
  params,
  async remove(connection, table, page) {
    // A DELETE takes the lock of the whole database, so look first whether there is a full row.
    if (!(await hasFullRows(params(), connection, table, page))) return 0;
    const made = params();
    const text = `DELETE FROM ${table} AS t WHERE ${page.isIn(made)} AND ${page.isFull(made)}`;
    return connection.execute(text, made.values);
  },
};
