/** The statements on a table of overrides, on PostgreSQL. */
import type { OverrideStatements } from "../dialect.js";
import { quotedTable, type TableName } from "../sql.js";
import { postgresqlEngine } from "./engines.js";
import { shownBits, shownState } from "./text.js";

export function postgresqlOverrides(
  tableName: TableName,
  version: string | undefined,
): OverrideStatements {
  const table = quotedTable(tableName);
  const showsBits = version !== undefined && postgresqlEngine(version).showsBits;
  const numbers = showsBits ? shownBits('"until"', '"setAt"') : `"until", "setAt"`;
  return {
    read: `SELECT "name", "key", "rule", ${numbers} FROM ${table}`,
    write:
      `INSERT INTO ${table} ("name", "key", "rule", "until", "setAt") ` +
      "VALUES ($1::text, $2::text, $3::text, $4::text::float8, $5::text::float8) " +
      `ON CONFLICT ("name", "key") DO UPDATE SET ` +
      `"rule" = EXCLUDED."rule", "until" = EXCLUDED."until", "setAt" = EXCLUDED."setAt"`,
    remove: `DELETE FROM ${table} WHERE "name" = $1::text AND "key" = $2::text`,
    removeEnded: `DELETE FROM ${table} WHERE "until" <= $1::text::float8`,
    id: (name, key) => [name, key],
    row({ name, key, rule, state, until, setAt }) {
      const { value, ts } = shownState({ state, value: until, ts: setAt });
      return { name: String(name), key: String(key), rule: String(rule), until: value, setAt: ts };
    },
  };
}
