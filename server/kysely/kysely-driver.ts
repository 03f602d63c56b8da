/** Runs the statements of a store through a Kysely instance or one of its transactions. */
import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { checkNotAborted, runBounded } from "../store/drivers/pools/bounded-transactions.js";
import { DIALECTS } from "../store/sql/dialects.js";
import type { DialectName, SqlConnection, SqlDriver, SqlRow } from "../store/sql/driver.js";

export function kyselyDriver<TDatabase>(
  db: Kysely<TDatabase>,
  dialect: DialectName,
): SqlDriver<Transaction<TDatabase>> {
  const { commitHidesFailure, hasLevels } = DIALECTS[dialect];
  return {
    dialect,
    ...connectionOf(db),
    within: connectionOf,
    transaction(run, { isolationLevel, timeout }) {
      const bounded = runBounded(run, timeout, async (tx) => {
        if (!commitHidesFailure) return;
        await checkNotAborted(() => connectionOf(tx).query("SELECT 1", []));
      });
      const transaction = db.transaction();
      if (!hasLevels) return transaction.execute(bounded);
      const level = isolationLevel === "Serializable" ? "serializable" : "read committed";
      return transaction.setIsolationLevel(level).execute(bounded);
    },
  };
}

function connectionOf<TDatabase>(db: Kysely<TDatabase>): SqlConnection {
  // A plugin could rename columns, or parse a key that looks like JSON.
  const plain = db.withoutPlugins();
  const run = (text: string, params: readonly unknown[]) =>
    plain.executeQuery<SqlRow>(CompiledQuery.raw(text, [...params]));
  return {
    query: async (text, params) => (await run(text, params)).rows,
    execute: async (text, params) => Number((await run(text, params)).numAffectedRows ?? 0),
  };
}
