/**
 * The connection of a `postgresChannel`, and the changes that it carries.
 *
 * | the connection is | it comes from        | when                                   | a change   |
 * | ----------------- | -------------------- | -------------------------------------- | ---------- |
 * | `none`            | opening, ready, lost | it is unused for a minute or two       | opens it   |
 * | `opening`         | none                 | there is a change or a listener        | is kept    |
 * |                   | lost                 | the pause is over                      | is kept    |
 * | `ready`           | opening              | it listens                             | is sent    |
 * | `lost`            | opening, ready       | it failed or ended                     | is dropped |
 * | `closed`          | any of these         | `close` was called                     | is ignored |
 */
import type { RateLimitLogger } from "../report/logger.js";
import type { ChangeChannel, ChangeListener, MessageListener } from "./change-channel.js";
import {
  COALESCE,
  MAX_MESSAGES,
  MAX_PAYLOADS,
  MAX_PENDING,
  messagePayload,
  newSender,
  payloadsOf,
  readPayload,
} from "./change-payloads.js";
import type { PostgresClientLike, PostgresNotification } from "./postgres-client.js";

/** How long the notification that a channel sends to itself may take, ms. */
const HEAR_WITHIN = 5000;
/** How often to look whether the connection is still of use, ms. */
const IDLE_CHECK = 60_000;
/**
 * The pauses before a lost connection is opened again, ms. Each pause is twice the pause before, up to
 * the last.
 */
const [FIRST_RETRY, LAST_RETRY] = [500, 30_000];

export interface PostgresNotificationsOptions {
  connect: () => PostgresClientLike;
  channel: string;
  logger: RateLimitLogger;
}

export class PostgresNotifications implements ChangeChannel {
  readonly #options: PostgresNotificationsOptions;
  readonly #sender = newSender();
  readonly #listeners = new Set<ChangeListener>();
  readonly #receivers = new Set<MessageListener>();
  /** The payloads of the messages that are sent next. */
  #messages: string[] = [];
  /** The digests of the changes that are sent next. */
  #pending = new Set<string>();
  /** The connection that is opening or ready. */
  #client: PostgresClientLike | undefined;
  #isReady = false;
  #isClosed = false;
  /** How often the connection was lost since it was last ready. */
  #failures = 0;
  /** Whether there was a change since the last look. */
  #isUsed = false;
  #hasWarned = false;
  #hearTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  /** Runs while the connection is lost. */
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PostgresNotificationsOptions) {
    this.#options = options;
  }

  readonly publish = (digest: string): void => {
    if (this.#isClosed) return;
    this.#isUsed = true;
    this.#open();
    if (this.#pending.size < MAX_PENDING) this.#pending.add(digest);
    this.#flushTimer ??= setTimeout(() => this.#flush(), COALESCE);
  };

  readonly subscribe = (listener: ChangeListener): (() => void) => {
    this.#open();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly send = (message: unknown): void => {
    if (this.#isClosed) return;
    this.#isUsed = true;
    this.#open();
    const payload = messagePayload(this.#sender, message);
    if (payload !== undefined && this.#messages.length < MAX_MESSAGES) this.#messages.push(payload);
    this.#flushTimer ??= setTimeout(() => this.#flush(), COALESCE);
  };

  readonly receive = (listener: MessageListener): (() => void) => {
    this.#receivers.add(listener);
    this.#open();
    return () => this.#receivers.delete(listener);
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#receivers.clear();
    await this.#disconnect();
  };

  #open(): void {
    if (this.#client !== undefined || this.#isClosed || this.#retryTimer !== undefined) return;
    this.#idleTimer ??= setInterval(() => this.#closeIfIdle(), IDLE_CHECK);
    const { connect, channel } = this.#options;
    let mine: PostgresClientLike;
    try {
      mine = connect();
    } catch {
      // Treat the error as a server that is down: calls go on, and the connection is tried again.
      this.#retryLater();
      return;
    }
    this.#client = mine;
    const lost = () => this.#lost(mine);
    mine.on("error", lost);
    mine.on("end", lost);
    mine.on("notification", (message) => this.#receive(message));
    mine
      .connect()
      .then(() => mine.query(`LISTEN "${channel}"`))
      .then(() => this.#listening(mine))
      .catch(lost);
  }

  #listening(mine: PostgresClientLike): void {
    if (this.#client !== mine) return;
    this.#isReady = true;
    this.#failures = 0;
    this.#checkHearing(mine);
    this.#flush();
  }

  #lost(mine: PostgresClientLike): void {
    if (this.#client !== mine) return;
    this.#client = undefined;
    this.#isReady = false;
    clearTimeout(this.#hearTimer);
    void mine.end().catch(() => {});
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    const pause = Math.min(FIRST_RETRY * 2 ** this.#failures++, LAST_RETRY);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#open();
    }, pause);
  }

  /**
   * Sends a notification to this channel itself. A pooler in transaction mode does not deliver the
   * notification.
   */
  #checkHearing(mine: PostgresClientLike): void {
    clearTimeout(this.#hearTimer);
    this.#hearTimer = setTimeout(() => {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      this.#options.logger.warn(
        "trpc-rate-limit: postgresChannel hears no notifications, so changes of other processes " +
          "are found by polling only. Give it a direct connection, and not a pooler in " +
          "transaction mode, such as PgBouncer.",
      );
    }, HEAR_WITHIN);
    this.#send(mine, JSON.stringify([this.#sender]));
  }

  /** Disconnects, but not for good: the next change or listener opens a connection again. */
  #closeIfIdle(): void {
    const isIdle = !this.#isUsed && this.#listeners.size + this.#receivers.size === 0;
    this.#isUsed = false;
    if (isIdle) void this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    const timers = [this.#flushTimer, this.#retryTimer, this.#hearTimer, this.#idleTimer];
    for (const timer of timers) clearTimeout(timer);
    this.#flushTimer = this.#retryTimer = this.#hearTimer = this.#idleTimer = undefined;
    const last = this.#client;
    this.#client = undefined;
    this.#isReady = false;
    this.#failures = 0;
    await last?.end().catch(() => {});
  }

  #receive({ payload = "" }: PostgresNotification): void {
    const { from, digests, messages } = readPayload(payload);
    if (from === this.#sender) {
      clearTimeout(this.#hearTimer);
      return;
    }
    for (const digest of digests) for (const listener of this.#listeners) listener(digest);
    for (const message of messages) for (const receiver of this.#receivers) receiver(message);
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const client = this.#client;
    // Changes wait for a connection that is about to open. Changes do not wait for a connection that is
    // down.
    if (client !== undefined && !this.#isReady) return;
    const digests = [...this.#pending];
    const messages = this.#messages;
    this.#pending = new Set();
    this.#messages = [];
    if (client === undefined) return;
    for (const message of messages) this.#send(client, message);
    if (digests.length === 0) return;
    const payloads = payloadsOf(this.#sender, digests);
    if (payloads.length > MAX_PAYLOADS) return;
    for (const payload of payloads) this.#send(client, payload);
  }

  /** The failure of a query is ignored: a lost connection emits an event of its own. */
  #send(to: PostgresClientLike, payload: string): void {
    to.query("SELECT pg_notify($1, $2)", [this.#options.channel, payload]).catch(() => {});
  }
}
