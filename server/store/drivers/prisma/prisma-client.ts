/**
 * The parts of a Prisma client that a store needs. They are structural types, so the package
 * imports no client, and works with the one that the application has generated.
 */

/** The parts of a transaction client that run SQL. */
export interface PrismaRaw {
  /** Runs one statement, and resolves with the rows that it returned. */
  $queryRawUnsafe(text: string, ...params: unknown[]): PromiseLike<unknown>;
  /** Runs one statement, and resolves with the number of rows that it has written. */
  $executeRawUnsafe(text: string, ...params: unknown[]): PromiseLike<number>;
}

/** Any generated Prisma client. */
export interface PrismaLike extends PrismaRaw {
  /** Loosely typed, because each client's own overloads name its own models. */
  $transaction(...args: never[]): unknown;
}

/** The argument of the callback of a client's `$transaction`. */
export type TransactionOf<TClient extends PrismaLike> = TClient["$transaction"] extends (
  run: (tx: infer TTransaction) => Promise<never>,
  ...rest: never[]
) => unknown
  ? TTransaction
  : PrismaRaw;

/** Inner members of a generated client, which are not in the types of the client. */
export interface ClientInternals {
  /** The extensions of `$extends`. */
  _extensions?: {
    isEmpty?(): boolean;
    getAllQueryCallbacks?(model: "$none", operation: string): readonly unknown[];
  };
  _activeProvider?: string;
  /** The version of Prisma, such as "6.19.3". */
  _clientVersion?: string;
  _runtimeDataModel?: {
    models?: Record<string, { dbName?: string | null; schema?: string | null }>;
  };
  _engineConfig?: {
    /** The adapter's own options, from its construction. */
    adapter?: { adapterName?: unknown; options?: { schema?: unknown }; externalPool?: never };
    /** The `transactionOptions` of the client's constructor. */
    transactionOptions?: { timeout?: number; maxWait?: number };
  };
}
