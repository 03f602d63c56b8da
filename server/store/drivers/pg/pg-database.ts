/** Which database a pool or a client of `pg` connects to, as one text. See `SqlDriver.database`. */

const PARTS = ["host", "port", "database", "user", "connectionString", "options"] as const;

type Parameters = { readonly [TPart in (typeof PARTS)[number]]?: unknown };

/** What `pg` has, and what its types and substitutes of it may lack. */
interface Connectable {
  /** Of a client. */
  readonly connectionParameters?: Parameters;
  /** Of a pool. */
  readonly options?: Parameters;
}

/** @returns `undefined` if it is not known. */
export function pgDatabaseOf(client: object): string | undefined {
  const { connectionParameters, options } = client as Connectable;
  const parameters = connectionParameters ?? options;
  if (typeof parameters !== "object" || parameters === null) return undefined;
  const parts = PARTS.map((part) => parameters[part] ?? null);
  return parts.every((part) => part === null) ? undefined : JSON.stringify(parts);
}
