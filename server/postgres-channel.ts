/**
 * Notifies processes of each other's changes through PostgreSQL's LISTEN and NOTIFY, so that a
 * reader need not wait for the next tick. A notification carries no state: the process that
 * receives it reads the row. If a notification is lost, the next tick finds the change.
 */
import type { ChangeChannel, ChangeListener } from "./limiter-types.js";

/** The parts of a `pg.Client` that the channel needs. */
export interface PostgresClientLike {
  connect(): Promise<unknown>;
  query(text: string, values?: unknown[]): Promise<unknown>;
  end(): Promise<unknown>;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
}

export interface PostgresNotification {
  channel: string;
  payload?: string | undefined;
}

export interface PostgresChannelOptions {
  /** Letters, digits and underscores; the same in all processes. @default "rate_limit" */
  channel?: string;
}

/** Changes within this many ms are sent together. */
const COALESCE = 50;
/** The longest payload, in UTF-8 bytes. PostgreSQL's limit is below 8,000. */
const MAX_PAYLOAD = 7900;
/**
 * The most payloads sent together. If there are more, none is sent: the next tick finds the
 * changes.
 */
const MAX_PAYLOADS = 16;
/**
 * The pauses before a lost connection is opened again, ms. They double from the first to the last.
 */
const [FIRST_RETRY, LAST_RETRY] = [500, 30_000];

/**
 * @param connect creates a client that is not connected yet, such as `() => new pg.Client(url)`.
 * The channel needs a connection of its own, because LISTEN belongs to a session. It must be a
 * direct one, not through a pooler in transaction mode.
 * @throws RangeError when the channel's name has other characters.
 */
export function postgresChannel(
  connect: () => PostgresClientLike,
  { channel = "rate_limit" }: PostgresChannelOptions = {},
): ChangeChannel & { close(): Promise<void> } {
  if (!/^\w{1,63}$/.test(channel)) {
    throw new RangeError(
      `channel must be 1 to 63 letters, digits or underscores, got "${channel}"`,
    );
  }
  /** Identifies the notifications of this process, which PostgreSQL also delivers back to it. */
  const sender = Math.random().toString(36).slice(2);
  const listeners = new Set<ChangeListener>();
  let pending = new Map<string, readonly string[]>();
  let client: PostgresClientLike | undefined;
  let ready = false;
  let isClosed = false;
  let failures = 0;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    if (client !== undefined || isClosed || retryTimer !== undefined) return;
    let mine: PostgresClientLike;
    try {
      mine = connect();
    } catch {
      // Treated as a server that is down: calls go on, and the connection is tried again.
      retryLater();
      return;
    }
    client = mine;
    const lost = () => {
      if (client !== mine) return;
      client = undefined;
      ready = false;
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
        ready = true;
        failures = 0;
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

  function receive({ payload = "" }: PostgresNotification): void {
    const [from, ...changes] = parse(payload);
    if (from === sender) return;
    for (const change of changes) {
      if (!Array.isArray(change)) continue;
      const [name, key] = change as unknown[];
      if (typeof name !== "string" || (key !== undefined && typeof key !== "string")) continue;
      for (const listener of listeners) listener(name, key);
    }
  }

  function flush(): void {
    flushTimer = undefined;
    const changes = [...pending.values()];
    pending = new Map();
    const payloads = payloadsOf(sender, changes);
    if (!ready || client === undefined || payloads.length > MAX_PAYLOADS) return;
    // The failure of a query is ignored: a lost connection emits an event of its own.
    for (const payload of payloads) {
      client.query("SELECT pg_notify($1, $2)", [channel, payload]).catch(() => {});
    }
  }

  return {
    publish(name, key) {
      open();
      pending.set(`${name}\0${key ?? ""}`, key === undefined ? [name] : [name, key]);
      flushTimer ??= setTimeout(flush, COALESCE);
    },
    subscribe(listener) {
      open();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      isClosed = true;
      clearTimeout(flushTimer);
      clearTimeout(retryTimer);
      listeners.clear();
      await client?.end().catch(() => {});
    },
  };
}

function payloadsOf(sender: string, changes: readonly (readonly string[])[]): string[] {
  const groups: (readonly string[])[][] = [];
  let length = Infinity;
  for (const change of changes) {
    const added = new TextEncoder().encode(JSON.stringify(change)).length + 1;
    length += added;
    if (length > MAX_PAYLOAD) {
      groups.push([]);
      length = added + sender.length + 4;
    }
    groups.at(-1)!.push(change);
  }
  return groups.map((group) => JSON.stringify([sender, ...group]));
}

/** Validates every payload, because any user of the database can notify. */
function parse(payload: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(payload);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
