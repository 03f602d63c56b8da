/**
 * Joins transactions that the application owns, with `using`. Only the application can retry such a
 * transaction, so a call rejects with the error as it is. After an error that has rolled the
 * transaction back, all later calls reject with the same error.
 */
import type { RateLimitStore } from "../store.js";
import type { TransactionStore } from "./decisions-inside.js";

export interface UsingOptions<TTransaction> {
  join(tx: TTransaction): TransactionStore;
  /** Whether the database has rolled the transaction back, or may have, with this error. */
  endsTransaction(error: unknown): boolean;
}

/** The calls that are under way in a transaction. */
interface Joined {
  store: TransactionStore;
  calls: number;
}

export function createUsing<TTransaction>({
  join,
  endsTransaction,
}: UsingOptions<TTransaction>): NonNullable<RateLimitStore<TTransaction>["using"]> {
  /**
   * Concurrent calls in one transaction run one after the other, also if each of them called `using`
   * itself. An entry goes when its last call ends: the next transaction can have the same connection,
   * and so the same key.
   */
  const underWay = new Map<TTransaction, Joined>();

  return (tx) => {
    // Join at once, because `join` throws if `tx` is no transaction.
    const store = join(tx);
    let ended: { error: unknown } | undefined;
    async function call<TResult>(
      work: (joined: TransactionStore) => Promise<TResult>,
    ): Promise<TResult> {
      if (ended !== undefined) throw ended.error;
      const joined = underWay.get(tx) ?? { store, calls: 0 };
      underWay.set(tx, joined);
      joined.calls++;
      try {
        return await work(joined.store);
      } catch (error) {
        if (endsTransaction(error)) {
          ended = { error };
          joined.store.end(error);
        }
        throw error;
      } finally {
        joined.calls--;
        if (joined.calls === 0) underWay.delete(tx);
      }
    }
    return {
      apply: (decisions) => call((joined) => joined.apply(decisions)),
      list: (...page) => call((joined) => joined.list(...page)),
      earliest: (...of) => call((joined) => joined.earliest(...of)),
      inTurn: (work) => call((joined) => joined.inTurn(work)),
    };
  };
}
