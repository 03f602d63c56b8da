/**
 * What a store needs of a Prisma client, structurally, so that the package imports none: it works
 * with the client that the application has generated, wherever that is.
 */

/** The parts of a transaction client that run SQL. */
export interface PrismaRaw {
  $queryRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<unknown>;
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
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

export interface InTransactionOptions {
  isolationLevel?: "Serializable" | "ReadCommitted";
  timeout?: number;
  maxWait?: number;
}

/** Runs `run` in an interactive transaction, rolled back when it throws. */
export function inTransaction<TResult>(
  prisma: PrismaLike,
  run: (tx: PrismaRaw) => Promise<TResult>,
  options: InTransactionOptions = {},
): Promise<TResult> {
  const transact = prisma.$transaction as (
    body: typeof run,
    options: InTransactionOptions,
  ) => Promise<TResult>;
  return transact.call(prisma, run, options);
}

/** A statement and its parameters, as pieces that Prisma joins with each database's markers. */
export class Sql {
  readonly #strings: string[] = [""];
  readonly #values: unknown[] = [];

  /** Appends SQL. Only ever constants and quoted identifiers: values go through {@link value}. */
  text(text: string): this {
    this.#strings[this.#strings.length - 1] += text;
    return this;
  }

  value(value: unknown): this {
    this.#values.push(value);
    this.#strings.push("");
    return this;
  }

  /** Appends an array parameter, one element per item. PostgreSQL only. */
  array<TItem>(items: readonly TItem[], pick: (item: TItem) => unknown, type: string): this {
    return this.value(items.map(pick)).text(`::${type}[]`);
  }

  /** Appends what `each` appends for every item, with commas between. */
  list<TItem>(items: readonly TItem[], each: (item: TItem) => void): this {
    items.forEach((item, index) => {
      if (index > 0) this.text(", ");
      each(item);
    });
    return this;
  }

  /** Runs the statement and resolves with the rows it returned. */
  async query(client: PrismaRaw): Promise<Record<string, unknown>[]> {
    return (await client.$queryRaw(this.#template(), ...this.#values)) as Record<string, unknown>[];
  }

  /** Runs the statement and resolves with the number of rows it has written. */
  async execute(client: PrismaRaw): Promise<number> {
    return client.$executeRaw(this.#template(), ...this.#values);
  }

  /** Prisma takes parameters through a tagged template; this is one, made by hand. */
  #template(): TemplateStringsArray {
    return Object.assign([...this.#strings], { raw: this.#strings });
  }
}

/** An identifier in double quotes, as SQLite and PostgreSQL have them. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
