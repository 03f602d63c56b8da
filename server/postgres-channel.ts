/**
 * Tells processes of each other's changes through PostgreSQL's LISTEN and NOTIFY, so that who
 * watches need not wait for the next look. News only, no state: whoever hears of a change reads the
 * row, and what is lost on the way is found by the next look.
 */
import type { ChangeChannel, ChangeListener } from "./limiter-types.js";

/** The parts of a `pg.Client` that this takes. */
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
  /** Of letters, digits and underscores; the same in all processes. @default "rate_limit" */
  channel?: string;
}

/** Changes within so many ms go out together. */
const COALESCE = 50;
/** The longest payload, in UTF-8 bytes: PostgreSQL takes less than 8,000. */
const MAX_PAYLOAD = 7900;
/** Payloads per notification round; what does not fit is left to the next look. */
const MAX_PAYLOADS = 16;
/** Pauses before a lost connection is opened again, ms: doubling between these. */
const [FIRST_RETRY, LAST_RETRY] = [500, 30_000];

/**
 * @param connect makes a client that is not connected yet, such as `() => new pg.Client(url)`: a
 * connection of its own, because LISTEN belongs to a session. It has to be a direct one, not through
 * a pooler in transaction mode.
 * @throws RangeError for a channel's name with other characters.
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
  /** Tells this process's notifications, which come back to it, from those of others. */
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
      // As with a server that is not there: it may be there later, and until then calls go on.
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
    mine.on("notification", hear);
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

  function hear({ payload = "" }: PostgresNotification): void {
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
    // A failure is the connection's, which says so by itself.
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

/** Anybody who may use the database may notify, so nothing is taken for granted. */
function parse(payload: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(payload);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
