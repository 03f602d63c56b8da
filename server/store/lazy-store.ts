/**
 * A store that the first call opens. Such a store is for an application that makes its database client
 * after it has loaded the file of its limits, such as a server that gives its client to the packages
 * that it uses.
 */
import { RateLimitConfigError, RateLimitStoreError } from "../../core/errors.js";
import type { BatchListener } from "./batch-event.js";
import type { OverrideTable } from "./override-table.js";
import { pruneByList } from "./prune-by-list.js";
import type { RateLimitStore } from "./store.js";

/**
 * Opens the store at the first call that needs it, and then keeps that store. If `open` throws, the
 * call fails as if the database was down, with the error of `open` as the `cause`, and the next call
 * calls `open` again.
 *
 * @param open returns the store, such as `() => drizzleStore(db, { table })`.
 * @throws RateLimitConfigError when `open` is no function.
 *
 * @example
 * import pg from "pg";
 * import { lazyStore, pgStore } from "trpc-rate-limit/server";
 *
 * // The variable is read by the first call, and not where this module is loaded.
 * const store = lazyStore(() =>
 *   pgStore(new pg.Pool({ connectionString: process.env.DATABASE_URL })),
 * );
 */
export function lazyStore<TTransaction = unknown>(
  open: () => RateLimitStore<TTransaction>,
): RateLimitStore<TTransaction> {
  if (typeof open !== "function") {
    throw new RateLimitConfigError("open", open, "a function that returns a store");
  }
  let opened: RateLimitStore<TTransaction> | undefined;
  /** The listeners that the limiter registers when it is made, before the first call. */
  const batchListeners = new Set<BatchListener>();
  const poolListeners = new Set<(error: unknown) => void>();
  const store = (): RateLimitStore<TTransaction> => (opened ??= connected());

  function connected(): RateLimitStore<TTransaction> {
    const made = opening(open);
    if (batchListeners.size > 0) {
      made.onBatch?.((event) => batchListeners.forEach((listener) => listener(event)));
    }
    made.onPoolError?.((error) => poolListeners.forEach((listener) => listener(error)));
    return made;
  }

  function overrides(): OverrideTable {
    const { overrides: table } = store();
    if (table !== undefined) return table;
    const message = "this store does not support overrides; use prismaStore() or pgStore()";
    throw new RateLimitConfigError("store", opened, { message });
  }

  const lazy: Optional<RateLimitStore<TTransaction>> = {
    apply: async (decisions, call) => store().apply(decisions, call),
    get submit() {
      // Does not open the store: the limiter reads `submit` at each call, and an error of `open` would
      // not reach the caller.
      return opened?.submit?.bind(opened);
    },
    get using() {
      const { using } = store();
      return using?.bind(opened);
    },
    get transaction() {
      const { transaction } = store();
      return transaction?.bind(opened);
    },
    get list() {
      const { list } = store();
      return list?.bind(opened);
    },
    get earliest() {
      const { earliest } = store();
      return earliest?.bind(opened);
    },
    get names() {
      const { names } = store();
      return names?.bind(opened);
    },
    overrides: {
      read: async (call) => overrides().read(call),
      get readOf() {
        const table = overrides();
        return table.readOf?.bind(table);
      },
      get readPage() {
        const table = overrides();
        return table.readPage?.bind(table);
      },
      get readChanges() {
        const table = overrides();
        return table.readChanges?.bind(table);
      },
      async readWithin(tx, of) {
        const table = overrides();
        return table.readWithin?.(tx, of) ?? table.read();
      },
      get writeWithin() {
        const table = overrides();
        return table.writeWithin?.bind(table);
      },
      write: async (row, call) => overrides().write(row, call),
      remove: async (name, key, call) => overrides().remove(name, key, call),
      removeEnded: async (before, call) => overrides().removeEnded(before, call),
    } satisfies Optional<OverrideTable> as OverrideTable,
    clock: () => opened?.clock?.() ?? Date.now(),
    clockBehind: () => opened?.clockBehind?.() ?? 0,
    clockAhead: () => opened?.clockAhead?.() ?? 0,
    isSilentSince: (since) => opened?.isSilentSince?.(since) ?? true,
    whyLate: () => opened?.whyLate?.() ?? "",
    onBatch: (listener) => registered(batchListeners, listener),
    onPoolError: (listener) => registered(poolListeners, listener),
    async *prune(terms) {
      const { prune, list } = store();
      if (prune !== undefined) {
        yield* prune.call(opened, terms);
      } else if (list === undefined) {
        const message = "this store does not support prune(); use prismaStore() or pgStore()";
        throw new RateLimitConfigError("store", opened, { message });
      } else {
        const apply = opened!.apply.bind(opened);
        yield* pruneByList({ apply, list: list.bind(opened) }, terms);
      }
    },
  };
  // A method that the opened store lacks is `undefined` here, too.
  return lazy as RateLimitStore<TTransaction>;
}

type Optional<TStore> = { [Name in keyof TStore]: TStore[Name] | undefined };

function opening<TTransaction>(
  open: () => RateLimitStore<TTransaction>,
): RateLimitStore<TTransaction> {
  let made: RateLimitStore<TTransaction>;
  try {
    made = open();
  } catch (error) {
    if (error instanceof RateLimitConfigError) throw error;
    const message = `the store cannot be opened yet: ${(error as Error).message}`;
    throw new RateLimitStoreError(message, { cause: error });
  }
  if (typeof Object(made).apply === "function") return made;
  throw new RateLimitConfigError("open", made, "a function that returns a store");
}

function registered<TListener>(listeners: Set<TListener>, listener: TListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
