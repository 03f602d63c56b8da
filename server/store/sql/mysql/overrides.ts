/** The statements on a table of overrides, on MySQL and MariaDB. */
import type { OverrideStatements } from "../dialect.js";
import { quotedTable, type TableName } from "../sql.js";
import { shownText, storedText } from "./text.js";

export function mysqlOverrides(tableName: TableName): OverrideStatements {
  const table = quotedTable(tableName, "`");
  const columns = "`name`, `key`, `rule`, `until`, `setAt`";
  const read = `SELECT ${columns} FROM ${table}`;
  const inOrder = (limit: number) => `ORDER BY \`name\`, \`key\` LIMIT ${limit}`;
  return {
    read,
    readOf: (names) =>
      `${read} WHERE \`name\` IN (${Array(names).fill("?").join(", ")}) AND \`key\` = ?`,
    readFirst: (limit) => `${read} ${inOrder(limit)}`,
    readAfter: (limit) =>
      `${read} WHERE \`name\` > ? OR (\`name\` = ? AND \`key\` > ?) ${inOrder(limit)}`,
    readChanges:
      `${read} WHERE \`setAt\` >= CAST(? AS DOUBLE) UNION ALL ` +
      `SELECT '', '', '', CAST(COUNT(*) AS DOUBLE), CAST(0 AS DOUBLE) FROM ${table}`,
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
