/**
 * Borrows connections of a `pg.Pool`, and destroys those that no longer answer, so that the pool
 * opens others. After a failover without a word to its clients, connections stay open for ever.
 */
import { UnsentError } from "../row-access.js";
import type { PgClientLike, PgPoolLike, PgQuery, PgResult } from "./pg-client.js";

/**
 * A connection whose statement has no answer after this time, ms, is destroyed. The statement may
 * also wait for a lock. Then it stays behind on the server, so the time doubles up to the longest.
 */
const SILENT_AFTER = 5000;
const LONGEST = 300_000;
/** How long after the last destroyed connection the time is the first one again, ms. */
const FORGET_AFTER = 600_000;
/** How long a connection may take to answer a probe, ms. */
const PROBE_TIMEOUT = 1000;

export interface PgConnections {
  /** Borrows a connection. One that comes after `maxWait` ms goes back to the pool. */
  borrow(maxWait?: number): Promise<PgClientLike>;
  /** Ends the listening that `borrow` has begun. Call it after the release. */
  forget(client: PgClientLike): void;
  /**
   * Runs a statement on any connection. Unlike the pool's own `query`, it keeps the connection
   * after an error of the statement.
   */
  runAlone(query: PgQuery, isWanted?: () => boolean): Promise<PgResult>;
}

/** A statement that is in flight outside of a transaction. */
interface Statement {
  client: PgClientLike;
  /** By the monotonic clock. */
  sentAt: number;
  /** How long it may take, ms. */
  patience: number;
}

export function createPgConnections(pool: PgPoolLike): PgConnections {
  const answeredAt = new WeakMap<PgClientLike, number>();
  let silentAfter = SILENT_AFTER;
  let destroyedAt = -Infinity;
  /** When the last statement without an answer was sent. */
  let unansweredSince = -Infinity;
  const inFlight = new Set<Statement>();
  let alarm: ReturnType<typeof setTimeout> | undefined;

  function noteSilence(sentAt: number): void {
    unansweredSince = Math.max(unansweredSince, sentAt);
    // Statements that were in flight together count once.
    if (sentAt >= destroyedAt) {
      silentAfter = Math.min(2 * patience(), LONGEST);
      for (let i = 0; i < (pool.idleCount ?? 0); i++) lend(pool).then(probeIdle, ignore);
    }
    destroyedAt = performance.now();
  }

  /** One timer watches all statements, because setting one for each takes 6 % of a lone call. */
  function watch(client: PgClientLike): Statement {
    const sentAt = performance.now();
    const statement = { client, sentAt, patience: patience() };
    inFlight.add(statement);
    alarm ??= wake(statement.patience);
    return statement;
  }

  function wake(ms: number): ReturnType<typeof setTimeout> {
    // The patience of a later statement may be shorter again.
    const next = setTimeout(destroySilent, Math.min(ms, SILENT_AFTER));
    next.unref?.();
    return next;
  }

  function destroySilent(): void {
    const now = performance.now();
    let wait = Infinity;
    for (const statement of inFlight) {
      const { client, sentAt, patience: ms } = statement;
      // Timers may fire a little early.
      if (sentAt + ms > now + 1) {
        wait = Math.min(wait, sentAt + ms - now);
        continue;
      }
      inFlight.delete(statement);
      noteSilence(sentAt);
      client.release(new Error(`the database did not answer within ${ms} ms`));
    }
    alarm = wait === Infinity ? undefined : wake(wait);
  }

  async function probeIdle(client: PgClientLike): Promise<void> {
    if (!(await probe(client))) return;
    forget(client);
    client.release();
  }

  function patience(): number {
    return performance.now() - destroyedAt > FORGET_AFTER ? SILENT_AFTER : silentAfter;
  }

  /** Whether a connection answers. A silent one is destroyed. */
  function probe(client: PgClientLike): Promise<boolean> {
    return new Promise((resolve) => {
      let isDestroyed = false;
      const destroy = (error: Error) => {
        clearTimeout(timer);
        // Destroying it also makes its query fail.
        if (isDestroyed) return;
        isDestroyed = true;
        client.release(error);
        forget(client);
        resolve(false);
      };
      const timer = setTimeout(
        () => destroy(new Error(`the connection did not answer within ${PROBE_TIMEOUT} ms`)),
        PROBE_TIMEOUT,
      );
      client.query({ text: "SELECT 1" }).then(() => {
        clearTimeout(timer);
        answeredAt.set(client, performance.now());
        resolve(true);
      }, destroy);
    });
  }

  async function borrow(maxWait: number = Infinity): Promise<PgClientLike> {
    const until = performance.now() + maxWait;
    for (;;) {
      const client = await lend(pool, until - performance.now(), maxWait);
      // After a silence, probe the connections that have not answered since.
      if (unansweredSince === -Infinity) return client;
      if ((answeredAt.get(client) ?? -Infinity) > unansweredSince) return client;
      if (await probe(client)) return client;
    }
  }

  return {
    borrow,
    forget,
    async runAlone(query, isWanted) {
      const client = await (unansweredSince === -Infinity ? lend(pool) : borrow());
      let statement: Statement | undefined;
      let broken: Error | boolean = false;
      try {
        if (isWanted !== undefined && !isWanted()) throw new UnsentError();
        statement = watch(client);
        const result = await client.query(query);
        if (unansweredSince !== -Infinity) answeredAt.set(client, performance.now());
        return result;
      } catch (error) {
        if (!isAnswer(error)) broken = error instanceof Error ? error : true;
        throw error;
      } finally {
        forget(client);
        // A connection that was destroyed is no longer in flight, and released already.
        if (statement === undefined || inFlight.delete(statement)) client.release(broken);
      }
    },
  };
}

/**
 * A connection that breaks rejects its query and also emits an error event. The pool does not
 * listen to the events of a borrowed connection, and an error event without a listener ends the
 * process.
 */
function ignore(): void {}

function forget(client: PgClientLike): void {
  client.removeListener("error", ignore);
}

/** By callback, because a connection can break before a promise of it is settled. */
function lend(pool: PgPoolLike, ms = Infinity, maxWait = ms): Promise<PgClientLike> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      reject(new Error(`no connection was free within ${maxWait} ms`));
    };
    const timer = ms === Infinity ? undefined : setTimeout(giveUp, Math.max(0, ms));
    pool.connect((error, client) => {
      clearTimeout(timer);
      if (client === undefined) reject(error!);
      else if (isLate) client.release();
      else {
        client.on("error", ignore);
        resolve(client);
      }
    });
  });
}

/** Whether the connection can be kept: the error came from the database, or nothing was sent. */
function isAnswer(error: unknown): boolean {
  const { severity } = error as { severity?: unknown };
  return severity === "ERROR" || error instanceof UnsentError;
}
