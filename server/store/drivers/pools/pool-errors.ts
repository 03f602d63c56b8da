/**
 * Listens to the errors of a pool. A pool reports a connection that breaks while nothing uses it,
 * as in a restart of the database, by an error event. An error event without a listener ends the
 * process.
 */

export type PoolErrorListener = (error: unknown) => void;

/** Methods that a pool of `pg` has, and that a substitute for it may lack. */
interface PoolEvents {
  on?(event: "error", listener: PoolErrorListener): unknown;
  listenerCount?(event: "error"): number;
}

/** By pool, so that the stores of one pool listen once. */
const listenersOf = new WeakMap<object, Set<PoolErrorListener>>();

/**
 * Listens for as long as the pool exists. A later call for the same pool changes nothing.
 *
 * @returns a function that adds a listener, and returns a function that removes it. Listeners are
 * called only while the application itself does not listen.
 */
export function listenToPool(pool: object): (listener: PoolErrorListener) => () => void {
  const listeners = listenersOf.get(pool) ?? startListening(pool);
  return (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
}

function startListening(pool: PoolEvents & object): Set<PoolErrorListener> {
  const listeners = new Set<PoolErrorListener>();
  listenersOf.set(pool, listeners);
  pool.on?.("error", (error: unknown) => {
    const isHeardElsewhere = (pool.listenerCount?.("error") ?? 1) > 1;
    if (!isHeardElsewhere) for (const listener of listeners) listener(error);
  });
  return listeners;
}
