/** The plain take on SQLite: one statement reads the rows, decides, and writes. */
import { capacityOf } from "../../../../core/config.js";
import { distinctTerms, sharedKind } from "../../take-terms.js";
import type { Statements } from "../dialect.js";
import type { FormulaKind, Operands } from "../formula.js";
import { statesOf } from "../sql.js";
import type { DatabaseClock } from "../table/database-clock.js";
import { CLOCK, FORMULA, ID, idValues, listOf, SAME_ROW, scaled, SCALES } from "./text.js";

/** Over a row `t`, its terms `c`, and the time `n` of the take. */
const OPERANDS: Operands = {
  value: () => `t."value"`,
  ts: () => `t."ts"`,
  rate: () => `c."rate"`,
  period: () => `c."period"`,
  capacity: () => `c."capacity"`,
  now: () => `n."now"`,
  isWindow: () => `c."isWindow"`,
};

/** The terms as numbers, if all rows share them: a list of them takes longer to read. */
const SHARED = `VALUES (0, 0, ?, ?, ?, ?)`;
const EACH = listOf(["id", "id", "number", "number", "number", "number"]);

function takeText(table: string, kind: FormulaKind, isShared: boolean, withClock: boolean): string {
  return `WITH ${SCALES}, n("now") AS (VALUES (?)),
    c("place", "isWindow", "rate", "period", "capacity", "floor") AS MATERIALIZED (
      ${isShared ? SHARED : EACH}
    ),
    i(${ID}, "total", "freshValue", "freshTs", "place") AS (
      ${listOf(["id", "id", "id", "number", "number", "number", "id"])}
    ),
    d AS (
      SELECT i.${ID.replaceAll(", ", ", i.")}, i."freshValue", i."freshTs", ${FORMULA.held(kind, OPERANDS)} - i."total" AS "next", ${FORMULA.ts(kind, OPERANDS)} AS "nextTs", c."floor"
      FROM i CROSS JOIN c ON c."place" = i."place" CROSS JOIN n LEFT JOIN ${table} AS t ON ${SAME_ROW}
    )
    INSERT INTO ${table} (${ID}, "value", "ts")
    SELECT ${ID}, coalesce("next", "freshValue"), coalesce("nextTs", "freshTs") FROM d
    WHERE "next" IS NULL OR "next" >= "floor"
    ON CONFLICT (${ID}) DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts"
    RETURNING ${ID}, "value", "ts" ${withClock ? `, ${CLOCK}` : ""}`;
}

/** @param table quoted. */
export function sqliteTake(table: string, clock: DatabaseClock): NonNullable<Statements["take"]> {
  // Kept, because some clients look up prepared statements by their text.
  const texts = new Map<string, string>();
  const textOf = (kind: FormulaKind, isShared: boolean, withClock: boolean) => {
    const id = `${kind}${isShared}${withClock}`;
    const text = texts.get(id) ?? takeText(table, kind, isShared, withClock);
    texts.set(id, text);
    return text;
  };
  return async (connection, lines, { now, isWanted }) => {
    const { terms, places } = distinctTerms(lines);
    const isShared = terms.length === 1;
    const rows = lines.map(({ row, total, fresh }, i) => [
      ...idValues(row),
      ...[total, fresh.value, fresh.ts].map(scaled),
      places[i],
    ]);
    const numbers = terms.map(({ config, floor }) => [
      config.rate,
      config.period,
      capacityOf(config),
      floor,
    ]);
    const each = numbers.map((all, place) => {
      const isWindow = Number(terms[place]!.config.kind === "fixed window");
      return [place, isWindow, ...all.map(scaled)];
    });
    const params = [
      now,
      ...(isShared ? numbers[0]! : [JSON.stringify(each)]),
      JSON.stringify(rows),
    ];
    const kind = sharedKind(lines) ?? "either";
    const learn = clock.due();
    const text = textOf(kind, isShared, learn !== undefined);
    const found = await connection.query(text, params, isWanted);
    learn?.(found);
    return statesOf(found);
  };
}
