/** The statements on a table of overrides, on MySQL and MariaDB. */
import type { OverrideStatements } from "../dialect.js";
import { quotedTable, type TableName } from "../sql.js";
import { shownText, storedText } from "./text.js";

export function mysqlOverrides(tableName: TableName): OverrideStatements {
  const table = quotedTable(tableName, "`");
  const read = `SELECT \`name\`, \`key\`, \`rule\`, \`until\`, \`setAt\` FROM ${table}`;
  return {
    read,
    // It would lock the gap of a row that is missing, so it is not used for that.
    readLocked: `${read} WHERE \`name\` = ? AND \`key\` = ? FOR UPDATE`,
    write:
      `INSERT INTO ${table} (\`name\`, \`key\`, \`rule\`, \`until\`, \`setAt\`) ` +
      "VALUES (?, ?, ?, CAST(? AS DOUBLE), CAST(? AS DOUBLE)) ON DUPLICATE KEY UPDATE " +
      "`rule` = VALUES(`rule`), `until` = VALUES(`until`), `setAt` = VALUES(`setAt`)",
    remove: `DELETE FROM ${table} WHERE \`name\` = ? AND \`key\` = ?`,
    removeEnded: `DELETE FROM ${table} WHERE \`until\` <= CAST(? AS DOUBLE)`,
    id: (name, key) => [storedText(name), storedText(key)],
    row: ({ name, key, rule, until, setAt }) => ({
      name: shownText(String(name)),
      key: shownText(String(key)),
      rule: String(rule),
      until: Number(until),
      setAt: Number(setAt),
    }),
  };
}
