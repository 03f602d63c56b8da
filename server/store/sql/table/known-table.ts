/**
 * The knowledge of a process about a table: that the table was checked, the statements that its engine
 * understands, and the clock of its database. Most stores keep this knowledge to themselves. The stores
 * of one binding share it. Where a store may live for one request only, all stores of one database
 * share it, so that a request does not check the table again.
 */
import { requestsOwnIo } from "../../../runtime/requests-own-io.js";
import type { Statements } from "../dialect.js";
import type { SqlDriver } from "../driver.js";
import type { TableName } from "../sql.js";
import { DatabaseClock } from "./database-clock.js";

/** The most databases that are remembered by a text. The oldest text is forgotten first. */
const MAX_TEXTS = 100;

export interface KnownTable {
  readonly clock: DatabaseClock;
  /** Whether the table was checked, and was not missing since. */
  isChecked: boolean;
  /** Whether a check ran outside of the application's transactions, and so saw the store's session. */
  isCheckedAlone: boolean;
  /** The version that the database reported at the last check. */
  version: string | undefined;
  /** The statements for that version. */
  statements: Statements | undefined;
}

type Tables = Map<string, KnownTable>;

const byText = new Map<string, Tables>();
const byObject = new WeakMap<object, Tables>();

/** @param driver the one that checks the table. */
export function knownTable(
  { dialect, database }: Pick<SqlDriver, "dialect" | "database">,
  { schema = "", name }: TableName,
): KnownTable {
  const isShared = typeof database === "object" || requestsOwnIo();
  if (database === undefined || !isShared) return unknown();
  const tables = tablesOf(database);
  const id = [dialect, schema, name].join("\0");
  let known = tables.get(id);
  if (known === undefined) tables.set(id, (known = unknown()));
  return known;
}

function unknown(): KnownTable {
  return {
    clock: new DatabaseClock(),
    isChecked: false,
    isCheckedAlone: false,
    version: undefined,
    statements: undefined,
  };
}

function tablesOf(database: string | object): Tables {
  // Both kinds of map are asked in the same way.
  const all = (typeof database === "string" ? byText : byObject) as Map<unknown, Tables>;
  let tables = all.get(database);
  if (tables === undefined) {
    if (byText.size >= MAX_TEXTS) byText.delete(byText.keys().next().value!);
    all.set(database, (tables = new Map()));
  }
  return tables;
}
