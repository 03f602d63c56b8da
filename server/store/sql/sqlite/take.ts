/** The plain take on SQLite: one statement reads the rows, decides, and writes. */
import { distinctTerms, sharedKind, termNumbers } from "../../take-terms.js";
import type { Statements } from "../dialect.js";
import type { AnyTakeOperands, FormulaKind } from "../formula.js";
import { statesOf } from "../sql.js";
import type { DatabaseClock } from "../table/database-clock.js";
import { CLOCK, FORMULA, ID, idValues, listOf, SAME_ROW, scaled, SCALES } from "./text.js";

/** The operands over a row `t`, its terms `c`, and the time `n` of the take. */
const OPERANDS: AnyTakeOperands = {
  used: () => `t."used"`,
  ts: () => `t."ts"`,
  rate: () => `c."rate"`,
  period: () => `c."period"`,
  capacity: () => `c."capacity"`,
  own: () => `c."own"`,
  most: () => `c."most"`,
  least: () => `c."least"`,
  over: () => `c."over"`,
  total: () => `i."total"`,
  now: () => `n."now"`,
  isWindow: () => `c."isWindow"`,
};

/** The terms as numbers, if all rows share them: a list of terms takes longer to read. */
const SHARED = `VALUES (0, 0, ?, ?, ?, ?, ?, ?, ?)`;
const EACH = listOf([
  "id",
  "id",
  "number",
  "number",
  "number",
  "number",
  "number",
  "number",
  "number",
]);
/** The `used` that a decision `d` writes to a row. */
const NEXT = FORMULA.written(() => `"after"`, { own: () => `"own"`, capacity: () => `"capacity"` });

function takeText(table: string, kind: FormulaKind, isShared: boolean, withClock: boolean): string {
  return `WITH ${SCALES}, n("now") AS (VALUES (?)),
    c("place", "isWindow", "rate", "period", "capacity", "own", "most", "least", "over") AS MATERIALIZED (
      ${isShared ? SHARED : EACH}
    ),
    i(${ID}, "total", "freshUsed", "freshTs", "place") AS (
      ${listOf(["id", "id", "id", "number", "number", "number", "id"])}
    ),
    d AS (
      SELECT i.${ID.replaceAll(", ", ", i.")}, i."freshUsed", i."freshTs", ${FORMULA.takeAny.after(kind, OPERANDS)} AS "after", ${FORMULA.ts(kind, OPERANDS)} AS "nextTs", c."capacity", c."own", c."most", t."used" AS "was", ${FORMULA.takeAny.isOver(kind, OPERANDS)} AS "isOver"
      FROM i CROSS JOIN c ON c."place" = i."place" CROSS JOIN n LEFT JOIN ${table} AS t ON ${SAME_ROW}
    )
    INSERT INTO ${table} (${ID}, "used", "ts")
    SELECT ${ID}, coalesce(${NEXT}, "freshUsed"), coalesce("nextTs", "freshTs") FROM d
    WHERE "after" IS NULL OR ("was" <= "own" AND "after" <= "most" AND "isOver")
    ON CONFLICT (${ID}) DO UPDATE SET "used" = excluded."used", "ts" = excluded."ts"
    RETURNING ${ID}, "used", "ts" ${withClock ? `, ${CLOCK}` : ""}`;
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
      ...[total, fresh.used, fresh.ts].map(scaled),
      places[i],
    ]);
    const numbers = terms.map((each) => {
      const { rate, period, capacity, own, most, least, over } = termNumbers(each);
      return [rate, period, capacity, own, most, least, over];
    });
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
