/**
 * Compares the plain take of each database with `core`. `DIFFERENTIAL_CASES` sets the number of
 * cases per database. The default is a few thousand, and fewer on one database for `npm test`.
 */
import { expect, it } from "vitest";
import type { MysqlPoolLike } from "../../../../server/index.js";
import { mysqlDriver } from "../../../../server/store/drivers/mysql/mysql-driver.js";
import type { Dialect } from "../../../../server/store/sql/dialect.js";
import { mysql } from "../../../../server/store/sql/mysql/mysql.js";
import { postgresql } from "../../../../server/store/sql/postgresql/postgresql.js";
import { sqlite } from "../../../../server/store/sql/sqlite/sqlite.js";
import { cases } from "../../../support/cases.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { connectMariadb, connectMysql2 } from "../../../support/open-mysql.js";
import { connectPool } from "../../../support/open-store.js";
import { isThorough } from "../sql-contract.js";
import { findMismatches, statementsOf, type Subject } from "./differential.js";

const count = Number(process.env["DIFFERENTIAL_CASES"] ?? cases(8000));
const timeout = 20_000 + count;

interface OpenSubject extends Subject {
  [Symbol.asyncDispose](): Promise<void>;
}

async function onPostgres(): Promise<OpenSubject> {
  const database = await createPostgres();
  const pool = connectPool(database.url, 1);
  const run = async (text: string, values: readonly unknown[]) =>
    pool.query(text, values as unknown[]);
  const connection: Subject["connection"] = {
    query: async (text, params) => (await run(text, params)).rows,
    execute: async (text, params) => (await run(text, params)).rowCount ?? 0,
  };
  const statements = await statementsOf(postgresql, connection);
  return {
    statements,
    connection,
    inserts: true,
    empty: () => pool.query(`DELETE FROM "RateLimit"`),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function onPrisma(
  opening: ReturnType<typeof createSqlite | typeof createMysql>,
  dialect: Dialect,
  inserts: boolean,
): Promise<OpenSubject> {
  const database = await opening;
  const client = database.prisma as Awaited<ReturnType<typeof createSqlite>>["prisma"];
  const connection: Subject["connection"] = {
    query: (text, params) => client.$queryRawUnsafe(text, ...params),
    execute: async (text, params) => client.$executeRawUnsafe(text, ...params),
  };
  const statements = await statementsOf(dialect, connection);
  return {
    statements,
    connection,
    inserts,
    empty: () => client.$executeRawUnsafe("DELETE FROM RateLimit"),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** @param isPrepared whether numbers are sent as doubles, or as text */
async function onDriver(
  connect: (url: string, options: { connectionLimit: number }) => MysqlPoolLike & Ended,
  isPrepared: boolean,
): Promise<OpenSubject> {
  const database = await createMysql();
  const pool = connect(database.url, { connectionLimit: 1 });
  const driver = mysqlDriver(pool, { prepare: isPrepared });
  const statements = await statementsOf(mysql, driver);
  return {
    statements,
    connection: driver,
    inserts: false,
    empty: () => driver.execute("DELETE FROM RateLimit", []),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

interface Ended {
  end(): Promise<void>;
}

/** Each database, with faults to inject: a pattern in the statement and its replacement. */
const all: [name: string, () => Promise<OpenSubject>, faults: [RegExp, string][]][] = [
  [
    "PostgreSQL",
    onPostgres,
    [
      [/<= \$8/, "< $8"],
      [/\* \$6 \/ \$7/g, "* ($6::float8 / $7::float8)"],
      [/"ts" = GREATEST\(t\."ts", (\S+)\)/, `"ts" = $1`],
      [/GREATEST\(0, (\S+) - t\."ts"\)/g, `($1 - t."ts")`],
      [/BETWEEN 0 AND \$8/, "<= $8"],
      [/t\."used" BETWEEN 0 AND \$8 AND/, ""],
      // Of takes that may owe.
      [/t\."used" <= \$11 AND/g, ""],
      [/CASE WHEN t\."used" < 0 THEN \S+ - t\."used" ELSE/g, "CASE WHEN false THEN 0 ELSE"],
      [/, \$12\)/g, ", $12 * 0.0::float8)"],
      [/> \$11 THEN/, ">= $11 THEN"],
      [/CASE WHEN excluded\."used" < 0 .*? END/g, `excluded."used"`],
      [/>= \$13/g, "> $13"],
      [/\* 1e60 >= \$13/g, "* 0 >= $13"],
      // With terms of their own.
      [/<= c\.most/, "< c.most"],
      [/t\."used" <= c\.own AND/g, ""],
      [/> c\.own/, ">= c.own"],
      [/, c\.least\)/g, ", 0)"],
      [/\* c\.rate \/ c\.period/g, "* (c.rate / c.period)"],
      [/GREATEST\(0, \$6 - t\."ts"\)/g, `($6 - t."ts")`],
      [/\(\$12::float8\[\]\)\[l\.place\]/g, "($12::float8[])[1]"],
    ],
  ],
  [
    "SQLite",
    () => onPrisma(createSqlite(), sqlite, true),
    [
      [/"after" <= "most"/, `"after" < "most"`],
      [/"after" > "own"/, `"after" >= "own"`],
      [/"was" <= "own" AND/, ""],
      [/AND "isOver"/, ""],
      [/CASE WHEN t\."used" < 0\.0 THEN c\."capacity" - t\."used"/, "CASE WHEN false THEN 0.0"],
      [/, c\."least"\)/, ", 0.0)"],
      [/\* c\."rate" \/ c\."period"/g, `* (c."rate" / c."period")`],
      [/c\."place" = i\."place"/, "true"],
      [/max\(0\.0, n\."now" - t\."ts"\)/g, `(n."now" - t."ts")`],
    ],
  ],
  ...(mysqlUrl === undefined
    ? []
    : ([
        [
          "MariaDB",
          () => onPrisma(createMysql(), mysql, false),
          [
            [/<= (i\.`most`|CAST)/, "< $1"],
            [/BETWEEN 0 AND (i\.`most`|CAST\(\? AS DOUBLE\)) AND/, "<= $1 AND"],
            [/> i\.`own` THEN/, ">= i.`own` THEN"],
            [/t\.`used` <= i\.`own` AND/g, ""],
            [/CASE WHEN t\.`used` < 0 THEN \S+ - t\.`used` ELSE/g, "CASE WHEN FALSE THEN 0 ELSE"],
            [/, i\.`least`\)/g, ", 0)"],
            [/\* i\.`rate` \/ i\.`period`/g, "* (i.`rate` / i.`period`)"],
            [/GREATEST\(0, (i\.`now`|CAST\(\? AS DOUBLE\)) - t\.`ts`\)/g, "($1 - t.`ts`)"],
          ],
        ],
        ["MariaDB through mysql2", () => onDriver(connectMysql2, true), []],
        ["MariaDB through mysql2, not prepared", () => onDriver(connectMysql2, false), []],
        ["MariaDB through mariadb", () => onDriver(connectMariadb, true), []],
        ["MariaDB through mariadb, not prepared", () => onDriver(connectMariadb, false), []],
      ] satisfies [string, () => Promise<OpenSubject>, [RegExp, string][]][])),
];

const subjects = isThorough ? all : all.slice(0, 1);

it.each(subjects)(
  "the plain take on %s writes exactly what core calculates, to the last bit",
  { timeout },
  async (_, open) => {
    await using subject = await open();
    expect((await findMismatches(subject, { cases: count, seed: 7 })).slice(0, 3)).toEqual([]);
  },
);

it.each(
  subjects.flatMap(([name, open, faults]) =>
    faults.map(([pattern, replacement]) => ({ name, open, pattern, replacement })),
  ),
)(
  "detects a statement on $name with $pattern replaced",
  { timeout },
  async ({ open, pattern, replacement }) => {
    await using subject = await open();
    let injected = 0;
    const connection: Subject["connection"] = {
      ...subject.connection,
      query(text, params) {
        const faultyText = text.replace(pattern, replacement);
        if (faultyText !== text) injected++;
        return subject.connection.query(faultyText, params);
      },
    };
    const mismatches = await findMismatches({ ...subject, connection }, { cases: 40_000, seed: 3 });
    expect(injected).toBeGreaterThan(0);
    expect(mismatches.length).toBeGreaterThan(0);
  },
);
