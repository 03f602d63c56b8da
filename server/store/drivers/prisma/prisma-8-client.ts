/**
 * The parts of a client of Prisma 8 that a store needs. They are structural types, so the package
 * imports no client.
 */

/** What runs statements: the client's runtime, or a transaction. */
export interface Prisma8Queryable {
  /** Runs a statement, and resolves with the rows that it returned. */
  query(plan: Prisma8Plan): PromiseLike<readonly unknown[]>;
  /** Runs a statement, and resolves with the number of rows that it has written. */
  execute(plan: Prisma8Plan): PromiseLike<{ affectedRows: number }>;
}

/** A statement as Prisma 8 builds it; any, because its types are the client's own. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Prisma8Plan = any;

/** A client of Prisma 8, such as `postgres({ contract })` of `@prisma/orm-postgres` makes. */
export interface Prisma8Like {
  /** The schema and the kind of the database. */
  readonly contract: { readonly target: string; readonly domain: unknown };
  /** Builds a statement of text. */
  readonly raw: { sql(parts: TemplateStringsArray): { affectedCount(): unknown } };
  /** What runs statements outside of transactions. */
  runtime(): Prisma8Queryable;
  /** Loosely typed, because each client's own type names its own models. */
  transaction(run: never): PromiseLike<unknown>;
}

/** The argument of the callback of a client's `transaction`. */
export type Prisma8TransactionOf<TClient extends Prisma8Like> = TClient["transaction"] extends (
  run: (tx: infer TTransaction) => PromiseLike<never>,
) => unknown
  ? TTransaction
  : Prisma8Queryable;

/** The models of a contract, by namespace, which is a schema of the database. */
export interface Prisma8Domain {
  namespaces?: Record<
    string,
    { models?: Record<string, { storage?: { table?: string; namespaceId?: string } }> }
  >;
}
