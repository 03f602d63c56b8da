/** Pieces of SQL that the statements of SQLite share. */
import type { Write } from "../../plan-writes.js";
import type { RowId } from "../../store.js";
import { createFormula } from "../formula.js";
import { CLOCK_COLUMN } from "../table/database-clock.js";

export const ID = `"name", "key", "shard"`;
export const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

/** Some builds of SQLite have no unixepoch(). */
export const CLOCK = `(julianday('now') - 2440587.5) * 86400000.0 AS "${CLOCK_COLUMN}"`;

export const FORMULA = createFormula({
  greatest: "max",
  // `max(0, …)` could be an integer, and then a quotient of two integers would be one, too.
  zero: "0.0",
  // Some builds of SQLite have no floor().
  floor: (quotient) => `CAST(${quotient} AS INTEGER)`,
});

export function idValues({ name, key, shard }: RowId): [string, string, number] {
  return [name, key, shard];
}

/*
 * Rows are one JSON parameter: SQLite takes at most 32,766 parameters, and D1 takes 100. A decimal that
 * SQLite parses could differ in the last bit, and then no guard would ever be true. So a double is sent
 * as a whole number and a scale: x = whole / 64^scale, which is exact.
 */

/**
 * A double as a whole number below 2^63 and a scale.
 *
 * @throws RangeError for a number that is not finite, which no scale makes whole.
 */
export function scaled(number: number | undefined): [whole: number, scale: number] | null {
  if (number === undefined) return null;
  if (!Number.isFinite(number)) throw new RangeError(`a row cannot hold ${number}`);
  let [whole, scale] = [number, 0];
  for (; !Number.isInteger(whole); scale++) whole *= 64;
  for (; Math.abs(whole) >= 2 ** 63; scale--) whole /= 64;
  return [whole, scale];
}

/**
 * 64 to the power of `n`, and of `-n`, down to the smallest double. The table of powers is computed
 * only as far as a query reads it.
 */
export const SCALES = `
  RECURSIVE scales("n", "up", "down") AS (
    VALUES (0, 1.0, 1.0)
    UNION ALL SELECT "n" + 1, "up" * 64, "down" / 64 FROM scales WHERE "n" < 179
  )`;

/** The rows of a parameter, which is a list of lists. */
export function listOf(columns: readonly ("id" | "number")[]): string {
  const shown = columns.map((kind, i) => {
    if (kind === "id") return `i."value" ->> ${i}`;
    const whole = `CAST(i."value" ->> '$[${i}][0]' AS REAL)`;
    const scale = `(i."value" ->> '$[${i}][1]')`;
    return `CASE WHEN ${scale} BETWEEN 0 AND 10 THEN ${whole} / (1 << (6 * ${scale})) ELSE
      ${whole} * (SELECT iif(${scale} < 0, "up", "down") FROM scales WHERE "n" = abs(${scale}) LIMIT 1) END`;
  });
  return `SELECT ${shown.join(", ")} FROM json_each(?) AS i`;
}

/** The parameter of a guarded write of groups. */
export function upsertParam(groups: readonly (readonly Write[])[]): string {
  const rows = groups.flatMap((writes, group) =>
    writes.map(({ row, next, was }) => [
      ...idValues(row),
      ...[next?.used, next?.ts, was?.used, was?.ts].map(scaled),
      group,
    ]),
  );
  return JSON.stringify(rows);
}

/** The parameter of a guarded deletion. */
export function removeParam(writes: readonly Write[]): string {
  const rows = writes.map(({ row, was }) => [
    ...idValues(row),
    ...[was!.used, was!.ts].map(scaled),
  ]);
  return JSON.stringify(rows);
}
