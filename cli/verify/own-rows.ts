/** The tables or keys of one run of `verify`, apart from those of the application. */
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { DIALECTS } from "../../server/store/sql/dialects.js";
import type { TableName } from "../../server/store/sql/sql.js";
import { CliError } from "../cli-error.js";
import { messageOf } from "../doctor/finding.js";
import { bothTables, tableSql } from "../table-sql.js";

export interface OwnRows {
  /** @throws CliError with the statement that the database has refused. */
  make(): Promise<void>;
  /** Removes the rows, and keeps the tables. */
  empty(): Promise<void>;
  /** Whether `make` has made anything, also if it has failed then. */
  isMade(): boolean;
  /** Removes everything that `make` has made, also in another process. */
  remove(): Promise<void>;
  /** The command that does what `remove` does. */
  byHand: string;
}

export function ownTables(
  dialect: DialectName,
  connection: SqlConnection,
  table: TableName,
): OwnRows {
  const tables = bothTables(table, DIALECTS[dialect].mark);
  const drop = `DROP TABLE IF EXISTS ${tables.join(", ")};`;
  // SQLite drops one table at a time.
  const drops = tables.map((each) => `DROP TABLE IF EXISTS ${each}`);
  let isMade = false;
  return {
    isMade: () => isMade,
    async make() {
      for (const statement of statementsOf(tableSql(dialect, { table }))) {
        try {
          await connection.execute(statement, []);
          isMade = true;
        } catch (error) {
          throw new CliError(
            `verify makes two tables of its own, and the database has refused this statement ` +
              `(${messageOf(error)}):\n\n${statement};\n\n` +
              "Connect as a user who may create and drop tables",
          );
        }
      }
    },
    async empty() {
      for (const each of tables) await connection.execute(`DELETE FROM ${each}`, []);
    },
    async remove() {
      for (const statement of drops) await connection.execute(statement, []);
    },
    byHand: dialect === "sqlite" ? drops.map((each) => `${each};`).join(" ") : drop,
  };
}

function statementsOf(sql: string): string[] {
  const bare = sql.replace(/^--.*\n/gm, "");
  return bare
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** @param prefix the start of all keys, of letters, digits, `-` and `:`. */
export function ownKeys(
  send: (args: readonly string[]) => Promise<unknown>,
  prefix: string,
): OwnRows {
  async function removeOnce(): Promise<number> {
    let removed = 0;
    let cursor = "0";
    do {
      const page = await send(["SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", "1000"]);
      const [next, keys] = page as [unknown, unknown[]];
      cursor = String(next);
      if (keys.length > 0) await send(["UNLINK", ...keys.map(String)]);
      removed += keys.length;
    } while (cursor !== "0");
    return removed;
  }
  async function remove(): Promise<void> {
    // A command of a process that was killed may still arrive.
    while ((await removeOnce()) > 0);
  }
  return {
    make: async () => {},
    isMade: () => true,
    empty: remove,
    remove,
    byHand: `redis-cli --scan --pattern '${prefix}*' | xargs redis-cli unlink`,
  };
}
