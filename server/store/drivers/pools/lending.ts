/**
 * The methods of a pool of connections, and how a connection is lent and listened to. A lent connection
 * that breaks rejects its query, and also emits an error event. The pool does not listen to the events
 * of a lent connection, and an error event without a listener ends the process.
 */
import { startTimer } from "../../../timers/timer.js";

/** The methods of a pool and of its connections. */
export interface PoolAccess<TClient> {
  idleCount(): number;
  /** Whether requests wait because the pool has lent as many connections as it may open. */
  isExhausted(): boolean;
  /** Answers by callback, because a connection can break before a promise of it is settled. */
  connect(callback: (error: unknown, client: TClient | undefined) => void): void;
  /** @param error destroys the connection instead of giving it back. */
  release(client: TClient, error?: Error): void;
  /** Runs a statement that any connection answers at once. */
  probe(client: TClient): Promise<unknown>;
  /** Whether the connection can be kept after this error, because the database has sent it. */
  isAnswer(error: unknown): boolean;
}

/** Methods that connections have, and that the connections of some clients lack. */
interface ErrorEvents {
  on?(event: "error", listener: () => void): unknown;
  removeListener?(event: "error", listener: () => void): unknown;
}

/** A method that a pool of `pg` has, and that a substitute for it may lack. */
interface PoolEvents {
  on?(event: "acquire", listener: (client: ErrorEvents) => void): unknown;
}

/** Lends a connection, and listens to it until `giveBack`. */
export function lendTo<TClient extends object>(
  pool: PoolAccess<TClient>,
  lent: (client: TClient) => void,
  failed: (error: Error) => void,
): void {
  pool.connect((error, client) => {
    if (client === undefined) return failed(asError(error));
    if (!heard.has(client)) (client as ErrorEvents).on?.("error", ignore);
    lent(client);
  });
}

/**
 * Lends a connection within a bounded time. A connection that comes after `ms` goes back to the pool.
 *
 * @param maxWait the bound that the caller has asked for, ms, for the message
 */
export function lend<TClient extends object>(
  pool: PoolAccess<TClient>,
  ms = Infinity,
  maxWait = ms,
): Promise<TClient> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = startTimer(() => {
      isLate = true;
      reject(new Error(`no connection was free within ${maxWait} ms`));
    }, ms);
    const lent = (client: TClient) => {
      timer.stop();
      if (isLate) giveBack(pool, client);
      else resolve(client);
    };
    const failed = (error: Error) => {
      timer.stop();
      reject(error);
    };
    lendTo(pool, lent, failed);
  });
}

/** @param error destroys the connection instead of giving it back. */
export function giveBack<TClient extends object>(
  pool: PoolAccess<TClient>,
  client: TClient,
  error?: Error,
): void {
  pool.release(client, error);
  forget(client);
}

/** Ends the listening to a connection that was released. */
export function forget(client: object): void {
  if (!heard.has(client)) (client as ErrorEvents).removeListener?.("error", ignore);
}

/**
 * Pools whose `acquire` events are listened to, and connections that are listened to for as long as
 * they exist.
 */
const heard = new WeakSet<object>();

/**
 * Also listens to the connections that a pool of `pg` lends to the application or to its ORM. A
 * connection that breaks between two statements of a transaction emits an error event. The event can be
 * ignored: the next statement is rejected anyway.
 */
export function listenToClients(pool: object): void {
  if (heard.has(pool)) return;
  heard.add(pool);
  (pool as PoolEvents).on?.("acquire", (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    client.on?.("error", ignore);
  });
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function ignore(): void {}
