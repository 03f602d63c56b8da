/** How a table is looked up in the catalog of SQLite. */
import { type Catalog, columnOf } from "../table/catalog.js";
import { CLOCK } from "./text.js";

export const CATALOG: Catalog = {
  version: "sqlite_version()",
  // D1 refuses `sqlite_version()`. So SQLite is asked for an operator that the lowest version has. A
  // lower version refuses the statement.
  report: `'[1]' ->> 0`,
  engines: [{ name: "SQLite", pattern: /^(\d+\.\d+)/, from: [3, 38], lacks: "RETURNING or ->>" }],
  instead: "use a client with a later SQLite",
  clock: CLOCK,
  double: /real|floa|doub/i,
  migrations: "prisma/migrations",

  async lookUp(query, { name }) {
    const rows = await query(
      `SELECT c."name", c."type", x."coll" AS "collation", {more}
       FROM pragma_table_info(?) AS c
       LEFT JOIN pragma_index_list(?) AS l ON l."origin" = 'pk'
       LEFT JOIN pragma_index_xinfo(l."name") AS x ON x."name" = c."name" AND x."key" = 1`,
      [name, name],
    );
    const columns = rows.map((row) => {
      const column = columnOf(row);
      return { ...column, folds: !["BINARY", undefined].includes(column.collation) };
    });
    // SQLite has answered, so its version is not too low.
    return { columns, version: undefined, searched: "this database", elsewhere: [] };
  },
};
