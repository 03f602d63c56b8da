/**
 * Prisma 8, of which there are only release candidates. Prisma 8 has no raw query for a text that is
 * known only at run time. So a statement that Prisma has built is sent with another text. The types of
 * the client are structural, so the package imports none.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { startTimer } from "../../../timers/timer.js";
import type { SqlConnection, SqlRow, TransactionDriver } from "../../sql/driver.js";
import type { TableName } from "../../sql/sql.js";
import { LEVELS } from "../pools/bounded-transactions.js";
import { MAX_WAIT, TIMEOUT } from "../../transactions/time-limits.js";

/** The executor of statements: the client's runtime, or a transaction. */
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
  /** The executor of statements outside of transactions. */
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
interface Prisma8Domain {
  namespaces?: Record<
    string,
    { models?: Record<string, { storage?: { table?: string; namespaceId?: string } }> }
  >;
}

/** The kinds of databases, by their name in a contract. */
const DIALECTS = new Map<string, "postgresql">([["postgres", "postgresql"]]);

/**
 * Stands before each statement. The middleware `lints` looks at the beginning of a text: a `SELECT`
 * without a `LIMIT` would be reported, also where it can only return one row.
 */
const COMMENT = "/* trpc-rate-limit */ ";

export function isPrisma8(client: object): client is Prisma8Like {
  return "contract" in client && "runtime" in client && !("$queryRawUnsafe" in client);
}

/** @throws RateLimitConfigError when the contract lacks the model of limits. */
export function prisma8Tables(client: Prisma8Like, model: string, overrides: string): TableName {
  const limits = prisma8Table(client, model);
  try {
    return { ...limits, overrides: prisma8Table(client, overrides) };
  } catch {
    // Only a limiter with overrides needs the table, and that limiter finds that the table is missing.
    return { ...limits, overrides: { ...limits, name: overrides } };
  }
}

/** @throws RateLimitConfigError when the contract has no such model. */
function prisma8Table({ contract }: Prisma8Like, model: string): TableName {
  const { namespaces = {} } = contract.domain as Prisma8Domain;
  const all = Object.entries(namespaces);
  for (const [namespace, { models = {} }] of all) {
    if (!Object.hasOwn(models, model)) continue;
    const { table = model, namespaceId = namespace } = models[model]!.storage ?? {};
    // Names like __unbound__ stand for the schema that the connection looks in.
    const schema = namespaceId.startsWith("__") ? undefined : namespaceId;
    return { name: table, schema };
  }
  const known = all.flatMap(([, { models = {} }]) => Object.keys(models)).join(", ");
  const message =
    `the contract of Prisma has no model "${model}": emit it again if the schema has it since then; or ` +
    `name one of the contract's models (${known || "none"})`;
  throw new RateLimitConfigError("model", model, { message });
}

/** @throws RateLimitConfigError when the kind of database is not supported. */
export function prisma8Driver<TClient extends Prisma8Like>(
  client: TClient,
): TransactionDriver<Prisma8TransactionOf<TClient>> {
  const { target } = client.contract;
  const dialect = DIALECTS.get(target);
  if (dialect === undefined) {
    const known = [...DIALECTS.keys()].join(", ");
    throw new RateLimitConfigError("the Prisma client's target", target, `one of ${known}`);
  }
  // This plan of a raw statement names no columns, so rows come as the database sends them.
  const built = client.raw.sql`SELECT 1`.affectedCount() as { build(): Prisma8Plan };
  const plan = built.build();
  const connectionOf = (queryable: () => Prisma8Queryable): SqlConnection => {
    const planOf = (text: string, params: readonly unknown[]): Prisma8Plan => ({
      ...plan,
      sql: COMMENT + text,
      params,
    });
    return {
      query: async (text, params) => (await queryable().query(planOf(text, params))) as SqlRow[],
      execute: async (text, params) =>
        (await queryable().execute(planOf(text, params))).affectedRows,
    };
  };
  return {
    dialect,
    ...connectionOf(() => client.runtime()),
    within: (tx) => connectionOf(() => tx as Prisma8Queryable),
    transaction: (run, { isolationLevel, timeout = TIMEOUT, maxWait = MAX_WAIT }) =>
      new Promise((resolve, reject) => {
        let giveUp: Error | undefined;
        let onGiveUp = reject;
        const after = (ms: number, message: string) =>
          startTimer(() => onGiveUp((giveUp = new Error(message))), ms);
        let timer = after(maxWait, `no connection was free within ${maxWait} ms`);
        const transact = client.transaction as (body: typeof run) => ReturnType<typeof run>;
        transact
          .call(client, async (tx) => {
            if (giveUp !== undefined) throw giveUp;
            timer.stop();
            // If the time is up, the body rejects, and Prisma rolls back.
            const late = new Promise<never>((_, rejectBody) => (onGiveUp = rejectBody));
            late.catch(() => {});
            timer = after(timeout, `the transaction took longer than ${timeout} ms`);
            // Prisma has an option for the level, but ignores it.
            const { execute } = connectionOf(() => tx as Prisma8Queryable);
            await execute(`SET TRANSACTION ISOLATION LEVEL ${LEVELS[isolationLevel]}`, []);
            return Promise.race([run(tx), late]);
          })
          .finally(() => timer.stop())
          .then(resolve, reject);
      }),
  };
}
