/**
 * Notifies processes of each other's changes through PostgreSQL's LISTEN and NOTIFY, so that a reader
 * need not wait for the next tick. A notification carries digests and no state. The process that receives
 * a digest reads the rows of that limit, if it watches them. If a notification is lost, the next tick
 * finds the change.
 */
import type { ChangeChannel } from "./change-channel.js";
import type { PostgresClientLike } from "./postgres-client.js";
import { PostgresNotifications } from "./postgres-notifications.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { loggerOf, type RateLimitLogger } from "../report/logger.js";
import { requestsOwnIo } from "../runtime/requests-own-io.js";

/** The options of `postgresChannel`. */
export interface PostgresChannelOptions {
  /** Letters, digits and underscores; the same in all processes. @default "rate_limit" */
  channel?: string;
  /** Receives a warning if the connection hears nothing. `false` for none. @default console */
  logger?: RateLimitLogger | false | undefined;
}

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
  return new PostgresNotifications({ connect, channel, logger: loggerOf(loggerOption) });
}
