/** The tables or keys of one run of `verify`, apart from those of the application. */
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { DIALECTS } from "../../server/store/sql/dialects.js";
import type { TableName } from "../../server/store/sql/sql.js";
import { CliError } from "../cli-error.js";
import { messageOf } from "../doctor/finding.js";
import { bothTables, tableSql } from "../table-sql.js";

/** What the names of the tables begin with. */
export const TABLE = "RateLimitVerify";

export interface OwnRows {
  /** @throws CliError with the statement that the database has refused. */
  make(): Promise<void>;
  /** Removes the rows, and keeps the tables. On Redis, does nothing. */
  empty(): Promise<void>;
  /** Whether `make` has made anything, also if it has failed then. */
  isMade(): boolean;
  /** Removes everything that `make` has made, also in another process. */
  remove(): Promise<void>;
  /** The command that does what `remove` does. */
  byHand: string;
}

/** What PostgreSQL says when the URL or `search_path` names no schema that is there. */
const NO_SCHEMA = /schema "[^"]*" does not exist|no schema has been selected/;

export function ownTables(
  dialect: DialectName,
  connection: SqlConnection,
  table: TableName,
): OwnRows {
  const tables = bothTables(table, DIALECTS[dialect].mark);
  let isMade = false;
  return {
    isMade: () => isMade,
    async make() {
      for (const statement of statementsOf(tableSql(dialect, { table }))) {
        try {
          await connection.execute(statement, []);
          isMade = true;
        } catch (error) {
          const why = messageOf(error);
          throw new CliError(
            `verify makes two tables of its own, and the database has refused this statement ` +
              `(${why}):\n\n${statement};\n\n` +
              (NO_SCHEMA.test(why)
                ? "Name a schema that is there by ?schema=NAME in the URL"
                : "Connect as a user who may create and drop tables"),
          );
        }
      }
    },
    async empty() {
      for (const each of tables) await connection.execute(`DELETE FROM ${each}`, []);
    },
    async remove() {
      for (const each of tables) await connection.execute(`DROP TABLE IF EXISTS ${each}`, []);
    },
    byHand: dropSql(dialect, tables),
  };
}

/** @param tables in quotes. */
export function dropSql(dialect: DialectName, tables: readonly string[]): string {
  // SQLite drops one table at a time.
  const each = dialect === "sqlite" ? tables : [tables.join(", ")];
  return each.map((names) => `DROP TABLE IF EXISTS ${names};`).join(" ");
}

function statementsOf(sql: string): string[] {
  const bare = sql.replace(/^--.*\n/gm, "");
  return bare
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

type Send = (args: readonly string[]) => Promise<unknown>;

/** What the keys begin with. */
export const PREFIX = "rate-limit-verify:";

/** @param prefix the start of all keys, of letters, digits, `-` and `:`. */
export function ownKeys(send: Send, prefix: string): OwnRows {
  async function removeOnce(): Promise<number> {
    let removed = 0;
    for await (const keys of pagesOf(send, prefix)) {
      if (keys.length > 0) await send(["UNLINK", ...keys]);
      removed += keys.length;
    }
    return removed;
  }
  async function remove(): Promise<void> {
    // A command of a process that was killed may still arrive.
    while ((await removeOnce()) > 0);
  }
  return {
    make: async () => {},
    isMade: () => true,
    // Each test has keys of its own: a search for the keys of a test reads the names of all keys.
    empty: async () => {},
    remove,
    byHand: unlinkCommand(prefix),
  };
}

/** Reads the names of all keys of the server, and gives those that begin with `prefix`. */
export async function* pagesOf(send: Send, prefix: string): AsyncGenerator<string[]> {
  let cursor = "0";
  do {
    const page = await send(["SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", "1000"]);
    const [next, keys] = page as [unknown, unknown[]];
    cursor = String(next);
    yield keys.map(String);
  } while (cursor !== "0");
}

/** Runs on the server: keys have bytes that arguments of a shell cannot have. */
export function unlinkCommand(prefix: string): string {
  const script =
    "local c = '0' repeat local p = redis.call('SCAN', c, 'MATCH', ARGV[1], 'COUNT', 1000) c = p[1] " +
    "for _, k in ipairs(p[2]) do redis.call('UNLINK', k) end until c == '0'";
  return `redis-cli eval "${script}" 0 '${prefix}*' # with -h, -p, -a and -n of the server`;
}
