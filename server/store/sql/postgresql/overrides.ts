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
  const engine = version === undefined ? undefined : postgresqlEngine(version);
  const { showsBits = false } = engine ?? {};
  const numbers = showsBits ? shownBits('"until"', '"setAt"') : `"until", "setAt"`;
  const read = `SELECT "name", "key", "rule", ${numbers} FROM `;
  const inOrder = (limit: number) => `ORDER BY "name", "key" LIMIT ${limit}`;
  return {
    read: read + table,
    readOf: (names) => {
      const list = Array.from({ length: names }, (_, i) => `$${i + 1}::text`).join(", ");
      return `${read}${table} WHERE "name" IN (${list}) AND "key" = $${names + 1}::text`;
    },
    readFirst: (limit) => `${read}${table} ${inOrder(limit)}`,
    readAfter: (limit) =>
      `${read}${table} WHERE "name" > $1::text OR ("name" = $2::text AND "key" > $3::text) ` +
      inOrder(limit),
    readChanges:
      `${read}(SELECT "name", "key", "rule", "until", "setAt" FROM ${table} ` +
      `WHERE "setAt" >= $1::text::float8 UNION ALL ` +
      `SELECT '', '', '', count(*)::float8, 0::float8 FROM ${table}) AS changed`,
    write:
      `INSERT INTO ${table} ("name", "key", "rule", "until", "setAt") ` +
      "VALUES ($1::text, $2::text, $3::text, $4::text::float8, $5::text::float8) " +
      `ON CONFLICT ("name", "key") DO UPDATE SET ` +
      `"rule" = EXCLUDED."rule", "until" = EXCLUDED."until", "setAt" = EXCLUDED."setAt"`,
    remove: `DELETE FROM ${table} WHERE "name" = $1::text AND "key" = $2::text`,
    removeEnded: `DELETE FROM ${table} WHERE "until" <= $1::text::float8`,
    id: (name, key) => [name, key],
    row({ name, key, rule, state, until, setAt }) {
      const bits = shownState({ state, used: until, ts: setAt });
      const id = { name: String(name), key: String(key) };
      return { ...id, rule: String(rule), until: bits.used, setAt: bits.ts };
    },
  };
}
