/** The statements on a table of overrides, on SQLite. */
import type { OverrideStatements } from "../dialect.js";
import { quotedTable, type TableName } from "../sql.js";

export function sqliteOverrides(tableName: TableName): OverrideStatements {
  const table = quotedTable(tableName);
  const read = `SELECT "name", "key", "rule", "until", "setAt" FROM ${table}`;
  const inOrder = (limit: number) => `ORDER BY "name", "key" LIMIT ${limit}`;
  return {
    read,
    readOf: (names) =>
      `${read} WHERE "name" IN (${Array(names).fill("?").join(", ")}) AND "key" = ?`,
    readFirst: (limit) => `${read} ${inOrder(limit)}`,
    readAfter: (limit) =>
      `${read} WHERE "name" > ? OR ("name" = ? AND "key" > ?) ${inOrder(limit)}`,
    readChanges:
      `${read} WHERE "setAt" >= CAST(? AS REAL) UNION ALL ` +
      `SELECT '', '', '', CAST(COUNT(*) AS REAL), CAST(0 AS REAL) FROM ${table}`,
    write:
      `INSERT INTO ${table} ("name", "key", "rule", "until", "setAt") ` +
      `VALUES (?, ?, ?, CAST(? AS REAL), CAST(? AS REAL)) ON CONFLICT ("name", "key") DO UPDATE SET ` +
      `"rule" = EXCLUDED."rule", "until" = EXCLUDED."until", "setAt" = EXCLUDED."setAt"`,
    remove: `DELETE FROM ${table} WHERE "name" = ? AND "key" = ?`,
    removeEnded: `DELETE FROM ${table} WHERE "until" <= CAST(? AS REAL)`,
    id: (name, key) => [name, key],
    row: ({ name, key, rule, until, setAt }) => ({
      name: String(name),
      key: String(key),
      rule: String(rule),
      until: Number(until),
      setAt: Number(setAt),
    }),
  };
}
