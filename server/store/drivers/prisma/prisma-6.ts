/**
 * The raw queries of Prisma 6. Prisma 6 rounds a number to 16 digits, which makes the largest numbers
 * infinite. The Rust engine types a number by its value: 3 is an integer and 3.5 is not. So all numbers
 * but whole ones below 2^53 are sent as text, with a cast in the statement.
 */
import type { DialectName, SqlConnection, SqlRow } from "../../sql/driver.js";
import type { PrismaRaw } from "./prisma-client.js";

/** Whether a client of this version needs `prisma6Connection`. */
export function isBefore7(version: string | undefined): boolean {
  return version !== undefined && Number.parseInt(version, 10) < 7;
}

/**
 * Commits inside of the body of a transaction. If a COMMIT of Prisma 6 fails, for example by a
 * serialization failure, Prisma never returns the connection to its pool. Ten such failures use up a
 * pool of ten. If the body fails, Prisma rolls back and returns the connection. After a body that has
 * committed, Prisma sends a second COMMIT, which is a warning on PostgreSQL and nothing on MySQL. See
 * {@link mayCommitTwice}.
 */
export function committing<TTransaction, TResult>(
  run: (tx: TTransaction) => Promise<TResult>,
): (tx: TTransaction) => Promise<TResult> {
  return async (tx) => {
    const result = await run(tx);
    await (tx as PrismaRaw).$executeRawUnsafe("COMMIT");
    return result;
  };
}

/** Whether a second COMMIT does no harm. On SQLite and on CockroachDB, a second COMMIT is an error. */
export function mayCommitTwice(provider: string | undefined): boolean {
  return provider === "postgresql" || provider === "mysql";
}

export function prisma6Connection(client: PrismaRaw, dialect: DialectName): SqlConnection {
  const send = dialect === "postgresql" ? castNumbered : castInTurn(CASTS[dialect]);
  return {
    async query(text, params) {
      const isMysql = dialect === "mysql";
      const sent = send(isMysql ? withTextColumns(text) : text, params);
      const rows = (await client.$queryRawUnsafe(sent.text, ...sent.params)) as SqlRow[];
      return isMysql ? rows.map(withoutSuffix) : rows;
    },
    async execute(text, params) {
      const sent = send(text, params);
      return client.$executeRawUnsafe(sent.text, ...sent.params);
    },
  };
}

interface Statement {
  text: string;
  params: readonly unknown[];
}

const CASTS = { sqlite: "CAST(? AS REAL)", mysql: "CAST(? AS DOUBLE)" };

/** Placeholders, and before them quoted names and texts, which may look like placeholders. */
const NUMBERED = /"[^"]*"|'[^']*'|\$(\d+)(::float8\[\])?/g;
const IN_TURN = /"[^"]*"|'[^']*'|`[^`]*`|\?/g;

/** A whole number up to 2^53 has at most 16 digits, so it arrives as it is. */
function mustBeText(param: unknown): param is number {
  return typeof param === "number" && !Number.isSafeInteger(param);
}

/**
 * Casts for PostgreSQL. The first cast says which type is sent, so that the Rust engine sends no other
 * type. A list is always sent as texts, because its elements need one type.
 */
function castNumbered(text: string, params: readonly unknown[]): Statement {
  const sent = [...params];
  const cast = text.replace(NUMBERED, (found, number?: string, list?: string) => {
    if (number === undefined) return found;
    const index = Number(number) - 1;
    const param = params[index];
    if (list !== undefined) {
      sent[index] = (param as number[]).map(String);
      return `$${number}::text[]::float8[]`;
    }
    if (!mustBeText(param)) return found;
    sent[index] = String(param);
    return `$${number}::text::float8`;
  });
  return { text: cast, params: sent };
}

function castInTurn(placeholder: string) {
  return (text: string, params: readonly unknown[]): Statement => {
    if (!params.some(mustBeText)) return { text, params };
    let index = 0;
    const cast = text.replace(IN_TURN, (found) =>
      found === "?" && mustBeText(params[index++]) ? placeholder : found,
    );
    return { text: cast, params: params.map((each) => (mustBeText(each) ? String(each) : each)) };
  };
}

/**
 * The part of a statement that says what it returns: the columns before the first FROM, or after
 * RETURNING.
 */
const RETURNED = /^\s*(?:SET STATEMENT \S+ = \d+ FOR\s+)?SELECT\b[^]*?\bFROM\b|\bRETURNING\b[^]*$/;
const TEXT_COLUMN = /(?<!AS )(?:t\.)?`(name|key|rule)`/g;
const SUFFIX = "_text";

const textColumns = new Map<string, string>();

/**
 * The adapter for MariaDB takes texts with a binary collation for bytes, and then fails. So such texts
 * are returned with another collation. The columns have another name in the result, so that `ORDER BY`
 * still means the column.
 */
function withTextColumns(text: string): string {
  let changed = textColumns.get(text);
  if (changed === undefined) {
    changed = text.replace(RETURNED, (returned) =>
      returned.replace(
        TEXT_COLUMN,
        (column, name: string) => `CONVERT(${column} USING utf8mb4) AS \`${name}${SUFFIX}\``,
      ),
    );
    textColumns.set(text, changed);
  }
  return changed;
}

function withoutSuffix(row: SqlRow): SqlRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name,
      value,
    ]),
  );
}
