/** What adding the table of the limits needs, and what is left to do after it. */

export interface TableOptions {
  /** The roles of visitors, which get no right on the tables. Empty where there are no such roles. */
  closedTo: readonly string[];
  /** Epoch ms, for the name of a migration. */
  now: number;
}

export interface AddedTable {
  /** Whether the table is new, so that the database has to be changed. */
  isNew: boolean;
  /** The file with the SQL. */
  sqlFile?: string;
  /** SQL that closes the table to visitors. The application's author adds this SQL to a migration. */
  closing?: string;
}
