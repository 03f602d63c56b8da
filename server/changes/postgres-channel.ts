/**
 * Notifies processes of each other's changes through PostgreSQL's LISTEN and NOTIFY, so that a reader
 * need not wait for the next tick. A notification carries digests and no state. The process that receives
 * a digest reads the rows of that limit, if it watches them. If a notification is lost, the next tick
 * finds the change.
 */
import type { ChangeChannel, ChangeListener } from "./change-channel.js";
import {
  COALESCE,
  MAX_PAYLOADS,
  MAX_PENDING,
  newSender,
  payloadsOf,
  readPayload,
} from "./change-payloads.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { loggerOf, type RateLimitLogger } from "../report/logger.js";
import { requestsOwnIo } from "../runtime/requests-own-io.js";

/** The parts of a `pg.Client` that the channel needs. */
export interface PostgresClientLike {
  /** Opens the connection. */
  connect(): Promise<unknown>;
  /** Runs a statement. */
  query(text: string, values?: unknown[]): Promise<unknown>;
  /** Closes the connection. */
  end(): Promise<unknown>;
  /** Calls `listener` for each notification of a channel that the connection listens to. */
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  /** Calls `listener` when the connection fails. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Calls `listener` when the connection has closed. */
  on(event: "end", listener: () => void): unknown;
}

/** A notification of PostgreSQL, as `pg` delivers it. */
export interface PostgresNotification {
  /** The channel of the notification. */
  channel: string;
  /** The text of the notification. */
  payload?: string | undefined;
}

/** The options of `postgresChannel`. */
export interface PostgresChannelOptions {
  /** Letters, digits and underscores; the same in all processes. @default "rate_limit" */
  channel?: string;
  /** Receives a warning if the connection hears nothing. `false` for none. @default console */
  logger?: RateLimitLogger | false | undefined;
}

/** How long the notification that a channel sends to itself may take, ms. */
const HEAR_WITHIN = 5000;
/** How often to look whether the connection is still of use, ms. */
const IDLE_CHECK = 60_000;
/**
 * The pauses before a lost connection is opened again, ms. Each pause is twice the pause before, up to
 * the last.
 */
const [FIRST_RETRY, LAST_RETRY] = [500, 30_000];

const NO_CONNECTION =
  "postgresChannel cannot listen on Cloudflare Workers, where no connection outlives its request; " +
  "leave the channel out: watch finds changes when it next reads the store";

/**
 * A channel through LISTEN and NOTIFY of PostgreSQL, so that `watch` learns of the changes of other
 * processes at once.
 *
 * @param connect creates a client that is not connected yet, such as `() => new pg.Client(url)`. The
 * channel needs a connection of its own, because LISTEN belongs to a session. The connection must be
 * direct. Through a pooler in transaction mode, the channel hears nothing, and logs one warning.
 *
 * The first change or listener opens the connection. The connection closes after a minute or two without
 * a change and without a listener, so that a limiter that a reload has replaced keeps no connection.
 * `close` closes the connection at once.
 * @throws RangeError when the channel's name is not 1 to 63 letters, digits or underscores.
 * @throws RateLimitConfigError on Cloudflare Workers, where no connection outlives its request.
 *
 * @example
 * import pg from "pg";
 * import { createRateLimiter, MINUTE, pgStore, postgresChannel } from "trpc-rate-limit/server";
 *
 * const connectionString = process.env.DATABASE_URL;
 * const live = createRateLimiter({
 *   store: pgStore(new pg.Pool({ connectionString })),
 *   channel: postgresChannel(() => new pg.Client({ connectionString })),
 *   limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
 * });
 */
export function postgresChannel(
  connect: () => PostgresClientLike,
  { channel = "rate_limit", logger: loggerOption }: PostgresChannelOptions = {},
): ChangeChannel & { close(): Promise<void> } {
  if (!/^\w{1,63}$/.test(channel)) {
    throw new RangeError(
      `channel must be 1 to 63 letters, digits or underscores, got "${channel}"`,
    );
  }
  if (requestsOwnIo()) {
    throw new RateLimitConfigError("channel", channel, { message: NO_CONNECTION });
  }
  const sender = newSender();
  const listeners = new Set<ChangeListener>();
  const logger = loggerOf(loggerOption);
  let pending = new Set<string>();
  let client: PostgresClientLike | undefined;
  let ready = false;
  let isClosed = false;
  let failures = 0;
  /** Whether there was a change since the last look. */
  let isUsed = false;
  let hasWarned = false;
  let hearTimer: ReturnType<typeof setTimeout> | undefined;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    if (client !== undefined || isClosed || retryTimer !== undefined) return;
    idleTimer ??= setInterval(closeIfIdle, IDLE_CHECK);
    let mine: PostgresClientLike;
    try {
      mine = connect();
    } catch {
      // Treat the error as a server that is down: calls go on, and the connection is tried again.
      retryLater();
      return;
    }
    client = mine;
    const lost = () => {
      if (client !== mine) return;
      client = undefined;
      ready = false;
      clearTimeout(hearTimer);
      void mine.end().catch(() => {});
      retryLater();
    };
    mine.on("error", lost);
    mine.on("end", lost);
    mine.on("notification", receive);
    mine
      .connect()
      .then(() => mine.query(`LISTEN "${channel}"`))
      .then(() => {
        if (client !== mine) return;
        ready = true;
        failures = 0;
        checkHearing(mine);
        flush();
      })
      .catch(lost);
  }

  function retryLater(): void {
    if (isClosed) return;
    const pause = Math.min(FIRST_RETRY * 2 ** failures++, LAST_RETRY);
    retryTimer = setTimeout(() => {
      retryTimer = undefined;
      open();
    }, pause);
  }

  /**
   * Sends a notification to this channel itself. A pooler in transaction mode does not deliver the
   * notification.
   */
  function checkHearing(mine: PostgresClientLike): void {
    clearTimeout(hearTimer);
    hearTimer = setTimeout(() => {
      if (hasWarned) return;
      hasWarned = true;
      logger.warn(
        "trpc-rate-limit: postgresChannel hears no notifications, so changes of other processes " +
          "are found by polling only. Give it a direct connection, and not a pooler in " +
          "transaction mode, such as PgBouncer.",
      );
    }, HEAR_WITHIN);
    send(mine, JSON.stringify([sender]));
  }

  /** Disconnects, but not for good: the next change or listener opens a connection again. */
  function closeIfIdle(): void {
    const isIdle = !isUsed && listeners.size === 0;
    isUsed = false;
    if (isIdle) void disconnect();
  }

  async function disconnect(): Promise<void> {
    for (const timer of [flushTimer, retryTimer, hearTimer, idleTimer]) clearTimeout(timer);
    flushTimer = retryTimer = hearTimer = idleTimer = undefined;
    const last = client;
    client = undefined;
    ready = false;
    failures = 0;
    await last?.end().catch(() => {});
  }

  function receive({ payload = "" }: PostgresNotification): void {
    const { from, digests } = readPayload(payload);
    if (from === sender) {
      clearTimeout(hearTimer);
      return;
    }
    for (const digest of digests) for (const listener of listeners) listener(digest);
  }

  function flush(): void {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    // Changes wait for a connection that is about to open. Changes do not wait for a connection that is
    // down.
    if (client !== undefined && !ready) return;
    const digests = [...pending];
    pending = new Set();
    if (client === undefined || digests.length === 0) return;
    const payloads = payloadsOf(sender, digests);
    if (payloads.length > MAX_PAYLOADS) return;
    for (const payload of payloads) send(client, payload);
  }

  /** The failure of a query is ignored: a lost connection emits an event of its own. */
  function send(to: PostgresClientLike, payload: string): void {
    to.query("SELECT pg_notify($1, $2)", [channel, payload]).catch(() => {});
  }

  return {
    publish(digest) {
      if (isClosed) return;
      isUsed = true;
      open();
      if (pending.size < MAX_PENDING) pending.add(digest);
      flushTimer ??= setTimeout(flush, COALESCE);
    },
    subscribe(listener) {
      open();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      isClosed = true;
      listeners.clear();
      await disconnect();
    },
  };
}
