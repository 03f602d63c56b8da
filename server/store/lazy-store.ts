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
  const later = new Opening(open);
  const lazy: Optional<RateLimitStore<TTransaction>> = {
    apply: async (decisions, call) => later.store.apply(decisions, call),
    get submit() {
      // Does not open the store: the limiter reads `submit` at each call, and an error of `open` would
      // not reach the caller.
      return later.opened?.submit?.bind(later.opened);
    },
    get using() {
      return later.store.using?.bind(later.store);
    },
    get transaction() {
      return later.store.transaction?.bind(later.store);
    },
    get list() {
      return later.store.list?.bind(later.store);
    },
    get earliest() {
      return later.store.earliest?.bind(later.store);
    },
    get sums() {
      return later.store.sums?.bind(later.store);
    },
    get names() {
      return later.store.names?.bind(later.store);
    },
    overrides: lazyOverrides(() => later.overrides),
    clock: () => later.opened?.clock?.() ?? Date.now(),
    clockBehind: () => later.opened?.clockBehind?.() ?? 0,
    clockAhead: () => later.opened?.clockAhead?.() ?? 0,
    isSilentSince: (since) => later.opened?.isSilentSince?.(since) ?? true,
    whyLate: () => later.opened?.whyLate?.() ?? "",
    onBatch: (listener) => registered(later.batchListeners, listener),
    onPoolError: (listener) => registered(later.poolListeners, listener),
    async *prune(terms) {
      const { store } = later;
      if (store.prune !== undefined) {
        yield* store.prune(terms);
      } else if (store.list === undefined) {
        const message = "this store does not support prune(); use prismaStore() or pgStore()";
        throw new RateLimitConfigError("store", store, { message });
      } else {
        yield* pruneByList({ apply: store.apply.bind(store), list: store.list.bind(store) }, terms);
      }
    },
  };
  // A method that the opened store lacks is `undefined` here, too.
  return lazy as RateLimitStore<TTransaction>;
}

/** The store, which is opened when it is first asked for, and the listeners that wait for it. */
class Opening<TTransaction> {
  /** `undefined` before the first call that needs the store. */
  opened: RateLimitStore<TTransaction> | undefined;
  /** The listeners that the limiter registers when it is made, before the first call. */
  readonly batchListeners = new Set<BatchListener>();
  readonly poolListeners = new Set<(error: unknown) => void>();

  constructor(private readonly open: () => RateLimitStore<TTransaction>) {}

  get store(): RateLimitStore<TTransaction> {
    return (this.opened ??= this.#connected());
  }

  get overrides(): OverrideTable {
    const { overrides } = this.store;
    if (overrides !== undefined) return overrides;
    const message = "this store does not support overrides; use prismaStore() or pgStore()";
    throw new RateLimitConfigError("store", this.opened, { message });
  }

  #connected(): RateLimitStore<TTransaction> {
    const made = openChecked(this.open);
    if (this.batchListeners.size > 0) {
      made.onBatch?.((event) => this.batchListeners.forEach((listener) => listener(event)));
    }
    made.onPoolError?.((error) => this.poolListeners.forEach((listener) => listener(error)));
    return made;
  }
}

/** @param open returns the table, and opens the store if needed. */
function lazyOverrides(open: () => OverrideTable): OverrideTable {
  return {
    read: async (call) => open().read(call),
    get readOf() {
      const table = open();
      return table.readOf?.bind(table);
    },
    get readPage() {
      const table = open();
      return table.readPage?.bind(table);
    },
    get readChanges() {
      const table = open();
      return table.readChanges?.bind(table);
    },
    async readWithin(tx, of) {
      const table = open();
      return table.readWithin?.(tx, of) ?? table.read();
    },
    get writeWithin() {
      const table = open();
      return table.writeWithin?.bind(table);
    },
    write: async (row, call) => open().write(row, call),
    remove: async (name, key, call) => open().remove(name, key, call),
    removeEnded: async (before, call) => open().removeEnded(before, call),
  } satisfies Optional<OverrideTable> as OverrideTable;
}

type Optional<TStore> = { [Name in keyof TStore]: TStore[Name] | undefined };

function openChecked<TTransaction>(
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
