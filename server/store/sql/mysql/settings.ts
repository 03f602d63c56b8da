/**
 * The settings of a session of MySQL or MariaDB under which limits would not count, or keys would be
 * mixed up. The check of the table asks for them in its own statement. The check asks one session of a
 * pool, so it sees the settings that all sessions have: from the server, `init_connect` or the client's
 * options.
 */
import type { SqlRow } from "../driver.js";
import { TableError } from "../table/table-error.js";

/** A text of one character, which a client must not send as two characters. */
export const BACKSLASH = "\\";

interface Setting {
  /** The condition in SQL, where `?` is `BACKSLASH`. Its value is 1 or 0. */
  isWrong: string;
  what: string;
  why: string;
  /** Whether a transaction that the application owns works in spite of the setting. */
  onlyAlone?: boolean;
}

/** The settings, in the order in which they are reported. */
const SETTINGS: readonly Setting[] = [
  {
    isWrong: "@@autocommit = 0",
    what: "autocommit=0",
    why: "the store would not commit what its calls take; give it connections with autocommit=1",
    onlyAlone: true,
  },
  {
    isWrong: "@@completion_type <> 'NO_CHAIN'",
    what: "a completion_type other than NO_CHAIN",
    why: "each COMMIT would begin another transaction, or close the connection; set NO_CHAIN, the default",
    onlyAlone: true,
  },
  {
    isWrong: "@@sql_safe_updates = 1",
    what: "sql_safe_updates=1",
    why: "it refuses an UPDATE that finds its rows by a list; set it to 0, the default",
  },
  {
    isWrong: "@@sql_select_limit < 100000",
    what: "an sql_select_limit",
    why: "rows that a SELECT leaves out look like full buckets; set it to DEFAULT",
  },
  {
    isWrong: "@@log_bin = 1 AND @@binlog_format = 'STATEMENT'",
    what: "binlog_format=STATEMENT",
    why: "InnoDB refuses to write at READ COMMITTED then; set ROW or MIXED on the server",
  },
  {
    isWrong: "FIND_IN_SET('EMPTY_STRING_IS_NULL', @@sql_mode) > 0",
    what: "the SQL mode EMPTY_STRING_IS_NULL",
    why: "a limit without a key has the key '', which would be NULL; leave the mode out",
  },
  {
    isWrong: "CHAR_LENGTH(?) <> 1",
    what: "the SQL mode NO_BACKSLASH_ESCAPES",
    why:
      "this client escapes values by backslashes all the same, so that a key could end its text; " +
      "leave the mode out, or give the store a pool of mariadb, or of mysql2 by mysqlStore",
  },
];

/** Whether each setting is wrong, as the columns `setting0`, `setting1` and so on. One parameter. */
export const SETTING_COLUMNS = SETTINGS.map(
  ({ isWrong }, index) => `(${isWrong}) AS \`setting${index}\``,
).join(", ");

/**
 * @param isAlone whether the session runs the store's own statements, and no transaction of the
 * application.
 * @throws TableError
 */
export function checkSettings(row: SqlRow | undefined, isAlone: boolean): void {
  for (const [index, { what, why, onlyAlone }] of SETTINGS.entries()) {
    if (Number(row?.[`setting${index}`] ?? 0) === 0 || (onlyAlone === true && !isAlone)) continue;
    throw new TableError("setting", `the session has ${what}`, why);
  }
}
