/** How a table is looked up in the catalogs of MySQL and MariaDB. */
import type { SqlRow } from "../driver.js";
import { type Catalog, columnOf, versionOf } from "../table/catalog.js";
import { TableError } from "../table/table-error.js";
import { ENGINES } from "./engines.js";
import { BACKSLASH, checkSettings, SETTING_COLUMNS } from "./settings.js";
import { CLOCK } from "./text.js";

export const CATALOG: Catalog = {
  // SingleStore reports the version of a MySQL, and its own name only in the comment.
  version: "CONCAT(VERSION(), ' ', @@version_comment)",
  engines: ENGINES,
  instead: "keep the limits in MySQL 8.0.17 or MariaDB 10.6, or a later one, or in PostgreSQL",
  clock: CLOCK,
  double: /^double/i,
  migrations: "prisma/mysql/migrations",

  async lookUp(query, { name, schema = null }, { key }, isAlone) {
    const rows = await query(
      "SELECT c.COLUMN_NAME AS `name`, c.DATA_TYPE AS `type`, c.COLLATION_NAME AS `collation`, " +
        "@@character_set_client AS `sent`, @@character_set_results AS `received`, " +
        `@@character_set_connection AS \`compared\`, ${SETTING_COLUMNS}, ` +
        `(${PRIMARY_KEY}) AS \`primary\`, {more} FROM information_schema.COLUMNS AS c ` +
        "WHERE c.TABLE_SCHEMA = COALESCE(?, DATABASE()) AND c.TABLE_NAME = ?",
      [BACKSLASH, schema, name],
    );
    checkSettings(rows[0], isAlone);
    checkCharacterSets(rows[0]);
    return {
      columns: rows.map((row) => {
        const column = columnOf(row);
        return { ...column, folds: column.collation?.endsWith("_bin") === false };
      }),
      lacksKey: rows[0]?.["primary"] === key.join(",") ? undefined : "primary key",
      version: versionOf(rows),
      searched: "this database",
      elsewhere: [],
    };
  },
};

/**
 * The columns of the primary key of a table `c`, in order. A part of a column shows the length of the
 * part.
 */
const PRIMARY_KEY =
  "SELECT GROUP_CONCAT(CONCAT(s.COLUMN_NAME, COALESCE(s.SUB_PART, '')) ORDER BY s.SEQ_IN_INDEX) " +
  "FROM information_schema.STATISTICS AS s WHERE s.TABLE_SCHEMA = c.TABLE_SCHEMA " +
  "AND s.TABLE_NAME = c.TABLE_NAME AND s.INDEX_NAME = 'PRIMARY'";

function checkCharacterSets({ sent, received, compared }: SqlRow = {}): void {
  for (const charset of [sent, received, compared]) {
    if (typeof charset === "string" && charset !== "utf8mb4") {
      throw new TableError(
        "charset",
        `the connection has the character set ${charset}, in which different keys can be the ` +
          "same; connect with utf8mb4, the default of mysql2 and mariadb",
      );
    }
  }
}
