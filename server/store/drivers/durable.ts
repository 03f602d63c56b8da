/**
 * The storage of a Durable Object with SQLite. Only the object itself uses its storage, and a statement
 * takes no `await`. So calls run one after the other, each in one transaction.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import { applyAtOnce, resultsOf } from "../at-once.js";
import type { Statements } from "../sql/dialect.js";
import type { SqlConnection, SqlRow } from "../sql/driver.js";
import { pruneSql } from "../sql/prune.js";
import { SqlOverrideTable } from "../sql/override-table.js";
import { tableOf } from "../sql-store.js";
import { rowsAtOnce } from "../sql/sqlite/rows-at-once.js";
import { quotedTable } from "../sql/sql.js";
import { sqlite } from "../sql/sqlite/sqlite.js";
import { type Call, expiredError, type RateLimitStore } from "../store.js";
import { isD1 } from "./d1.js";
import { DurableTable } from "./durable-table.js";

/** A `DurableObjectStorage` with SQLite, such as `ctx.storage`. */
export interface DurableStorageLike {
  /** The SQLite of the object. */
  readonly sql: {
    /** Runs one statement. */
    exec(text: string, ...params: never[]): { toArray(): unknown[]; readonly rowsWritten: number };
  };
  /** Runs a function without an `await` in a transaction. */
  transactionSync<TResult>(run: () => TResult): TResult;
}

/** The options of `durableStore`. */
export interface DurableStoreOptions {
  /** The table's name. @default "RateLimit" */
  table?: string | undefined;
  /** The name of the table of overrides. @default that of the table with "Override" after it */
  overridesTable?: string | undefined;
}

/**
 * A store in the storage of a Durable Object with SQLite. The store creates its table at its first use,
 * if there is none. The time of the store is that of the object.
 *
 * `transaction` and `using` are refused: nothing can be awaited inside a transaction of an object.
 *
 * @param storage `ctx.storage` of the object. The class of the object must be declared under
 * `new_sqlite_classes`.
 * @throws RateLimitConfigError when `storage` is no storage with SQLite.
 *
 * @example
 * import { createRateLimiter, durableStore, MINUTE } from "trpc-rate-limit/server";
 *
 * // In the constructor of a Durable Object: `ctx` is its first argument.
 * const inObject = createRateLimiter({
 *   store: durableStore(ctx.storage),
 *   limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
 * });
 */
export function durableStore(
  storage: DurableStorageLike,
  options: DurableStoreOptions = {},
): RateLimitStore<never> {
  const { table: _, overridesTable: __, ...others } = options;
  const problem = problemOf(storage);
  if (problem !== undefined) throw new RateLimitConfigError("storage", storage, problem);
  const [other] = Object.keys(others);
  if (other !== undefined) {
    const expected = "left out: decisions of a Durable Object run one after the other";
    throw new RateLimitConfigError(other, (others as Record<string, unknown>)[other], expected);
  }
  const name = tableOf(options);
  const query = (text: string, params: readonly unknown[]) =>
    storage.sql.exec(text, ...(params as never[])).toArray() as SqlRow[];
  const table = new DurableTable(query, name);
  const { clock, connection } = table;
  const statements = sqlite.statements(name, clock, "");
  const rows = rowsAtOnce(quotedTable(name), { query, execute: query });
  const { isConflict } = sqlite.errors;

  const apply: RateLimitStore["apply"] = async (decisions, call?: Call) => {
    const settled = await table.run(() => {
      if (call?.expired) throw expiredError();
      return storage.transactionSync(() => applyAtOnce(decisions, rows));
    });
    return resultsOf(settled);
  };
  const list: NonNullable<RateLimitStore["list"]> = (...page) =>
    table.run(() => statements.list(connection, ...page));

  return {
    apply,
    list,
    overrides: new SqlOverrideTable({
      dialect: sqlite,
      connection,
      limits: name,
      clock,
      isConflict,
      prepare: () => table.createOverrides(),
    }),
    sums: (of, terms) => table.run(() => statements.sums(connection, of, terms)),
    names: () => table.pages(() => namesOf(connection, statements)),
    prune: (terms) =>
      table.pages(() => {
        const on = { ...connection, locking: { lock: "none" } as const };
        const store = { apply, list };
        return pruneSql({ dialect: sqlite, table: name, connection: on, store, isConflict }, terms);
      }),
    using(tx) {
      throw new RateLimitConfigError("tx", tx, { message: `using() cannot work: ${INSTEAD}` });
    },
    async transaction() {
      const message = `transaction() cannot work: ${INSTEAD}`;
      throw new RateLimitConfigError("storage", storage, { message });
    },
  };
}

async function* namesOf(
  connection: SqlConnection,
  statements: Pick<Statements, "nextName">,
): AsyncGenerator<string, void, undefined> {
  let found = await statements.nextName(connection, undefined);
  while (found !== undefined) {
    yield found;
    found = await statements.nextName(connection, found);
  }
}

const INSTEAD =
  "nothing can be awaited inside a transaction of a Durable Object; call limit() first, write " +
  "by ctx.storage.transactionSync(), and give the tokens back by refund() if that fails";

const EXPECTED = "the storage of a Durable Object with SQLite, such as ctx.storage";

/**
 * Says what is wrong with a storage, and what to pass instead; `undefined` if the storage can be used.
 */
function problemOf(storage: unknown): string | undefined {
  if (isD1(storage)) return `${EXPECTED}: use d1Store for a binding to D1`;
  const { transactionSync, storage: inner } = Object(storage) as Record<string, unknown>;
  if (inner !== undefined) return `${EXPECTED}, and not ctx itself`;
  if (typeof transactionSync !== "function") return EXPECTED;
  return hasSql(storage as DurableStorageLike)
    ? undefined
    : `${EXPECTED}: declare the class of the object under new_sqlite_classes`;
}

/** Without SQLite, the property `sql` is missing, or raises an error. */
function hasSql(storage: DurableStorageLike): boolean {
  try {
    return typeof storage.sql.exec === "function";
  } catch {
    return false;
  }
}
