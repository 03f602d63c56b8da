/**
 * What a store needs of a Prisma client, structurally, so that the package imports none: it works
 * with the client that the application has generated, wherever that is.
 */

/** The parts of a transaction client that run SQL. */
export interface PrismaRaw {
  $queryRawUnsafe(text: string, ...params: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(text: string, ...params: unknown[]): PromiseLike<number>;
}

/** Any generated Prisma client. */
export interface PrismaLike extends PrismaRaw {
  /** Loosely typed, because each client's own overloads name its own models. */
  $transaction(...args: never[]): unknown;
}

/** What a client hands to the callback of its `$transaction`. */
export type TransactionOf<TClient extends PrismaLike> = TClient["$transaction"] extends (
  run: (tx: infer TTransaction) => Promise<never>,
  ...rest: never[]
) => unknown
  ? TTransaction
  : PrismaRaw;

/** What a generated client tells about itself, though not in its types. */
export interface ClientInternals {
  _activeProvider?: string;
  _runtimeDataModel?: { models?: Record<string, { dbName?: string | null }> };
}
