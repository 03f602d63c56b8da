/**
 * Something is wrong with the table or the session. The message says what is wrong and what to do, and
 * `fact` says only what is wrong.
 */
export class TableError extends Error {
  override readonly name = "TableError";

  constructor(
    readonly reason:
      | "missing"
      | "elsewhere"
      | "foreign"
      | "columns"
      | "type"
      | "collation"
      | "charset"
      | "key"
      | "setting",
    readonly fact: string,
    hint?: string,
  ) {
    super(hint === undefined ? fact : `${fact} (${hint})`);
  }
}
