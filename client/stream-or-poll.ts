/**
 * Keeps snapshots coming: one `watch` stream for everything that a page shows, and `status` queries
 * while there is no stream. `live` turns off the stream, or the stream and the polls. The observer only
 * says which limits it follows.
 */
import { MAX_TIMEOUT } from "../core/durations.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { BATCH_OVERHEAD, groupsOf, STREAM_OVERHEAD } from "./item-groups.js";
import type { ConnectionState, LiveMode, RateLimitItem, RateLimitTransport } from "./types.js";

export interface ConnectionOptions {
  transport: RateLimitTransport;
  live: LiveMode;
  /** ms between two polls while there is no stream. */
  pollInterval: number;
  /** A clock that never jumps, ms. */
  monotonic: () => number;
  /** Whether the limit need not be asked for when it is first followed. */
  isFresh(item: RateLimitItem): boolean | undefined;
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /** Asks the server for one limit and takes the answer; rejects where none comes. */
  request(item: RateLimitItem): Promise<void>;
  /** The server refuses to tell about this limit. */
  onRefused(item: RateLimitItem, error: unknown): void;
  onState(state: ConnectionState): void;
}

/** Items are compared by identity: the same limit is the same object. */
export interface Connection {
  /** Follows exactly these limits from now on, and asks at once for new limits that are not fresh. */
  follow(items: readonly RateLimitItem[]): void;
  /** Asks for these limits; once more if a request for them is already in flight. */
  ask(items: readonly RateLimitItem[]): void;
  /** Asks for all limits that are followed, and reopens a lost stream without further pause. */
  refresh(): void;
  /** For `request`: opens the stream anew when the other answers are there, too. */
  reopen(): void;
}

/** The pause before an ended stream is opened again, ms: doubles from the first to the last, with jitter. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;
/** How long a stream has to be live, ms. A stream that ends earlier costs more requests than polling. */
const STEADY = 10_000;
/** How long an answer may hold up the next requests, ms. */
const ANSWER_TIMEOUT = 10_000;

/** Whether asking again gives the same error: a 4xx, but no timeout, denial or aborted request. */
function isRefusal(error: unknown): boolean {
  const { data } = Object(error) as { data?: { httpStatus?: unknown } | null };
  return /^4(?!08|29|99)/.test(String(data?.httpStatus));
}

export function createStreamOrPoll(options: ConnectionOptions): Connection {
  const { transport, live, pollInterval } = options;
  let followed: readonly RateLimitItem[] = [];
  /** The items of `followed` that the server tells about. One refused item fails a whole stream. */
  let items: readonly RateLimitItem[] = [];
  /** Items that are neither streamed nor polled, but asked for when the page changes or wakes up. */
  const refused = new WeakSet<RateLimitItem>();
  let streams: (() => void)[] = [];
  /** How often streams have ended since one was steady. */
  let failures = 0;
  /** When the streams came back last. */
  let liveSince = NaN;
  /** The items to ask for. */
  const wanted = new Set<RateLimitItem>();
  /** The items whose last request was answered. */
  const answered = new WeakSet<RateLimitItem>();
  let isAsking = false;
  /** Whether the streams have to be opened anew. Once for all answers of a group. */
  let isOutdated = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let pollTimer: ReturnType<typeof setInterval> | undefined;
  let isPolling = false;

  function ask(some: readonly RateLimitItem[]): void {
    for (const item of some) wanted.add(item);
    // A microtask later, so that all requests of this tick go together.
    if (!isAsking) queueMicrotask(() => void askWanted());
    isAsking = true;
  }

  /** Sends one group after the other: requests of one tick may become one batch, in one URL. */
  async function askWanted(): Promise<void> {
    for (;;) {
      const [group] = groupsOf([...wanted], BATCH_OVERHEAD);
      if (!group) break;
      const answers = group.map(async (item) => {
        wanted.delete(item);
        answered.delete(item);
        try {
          await options.request(item);
          answered.add(item);
          refused.delete(item);
        } catch (error) {
          // Do not repeat the request: the server may deny the request itself.
          wanted.delete(item);
          if (!isRefusal(error)) return;
          refused.add(item);
          options.onRefused(item, error);
        }
      });
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, ANSWER_TIMEOUT);
      });
      await Promise.race([Promise.all(answers), late]);
      clearTimeout(timer);
      if (isPolling || live !== "stream") {
        // One answer is enough: the server may be there, and forbid the other limits.
        const isThere = followed.some((item) => answered.has(item) || refused.has(item));
        options.onState(isThere ? "polling" : "offline");
      }
      const next = allowed();
      const isOther = next.length !== items.length || next.some((item, i) => item !== items[i]);
      if (isOutdated || isOther) setItems(next);
    }
    isAsking = false;
  }

  function startPolling(): void {
    isPolling = true;
    options.onState("polling");
    startTimer();
  }

  function startTimer(): void {
    pollTimer ??= setInterval(
      () => {
        // Do not poll while answers are late: more requests do not help a slow server.
        if (isAsking) return;
        if (!isPolling) startPolling();
        ask(items);
      },
      Math.min(pollInterval, MAX_TIMEOUT),
    );
  }

  function stopPolling(): void {
    clearInterval(pollTimer);
    pollTimer = undefined;
    isPolling = false;
  }

  /** Whether streams come and go. New streams deliver each time, so do not ask each time, too. */
  const isUnsteady = () => options.monotonic() - liveSince < STEADY;

  const allowed = () => followed.filter((item) => !refused.has(item));

  function setItems(next: readonly RateLimitItem[]): void {
    items = next;
    open();
  }

  function open(): void {
    isOutdated = false;
    clearTimeout(retryTimer);
    retryTimer = undefined;
    const replaced = streams;
    // Keep the old streams until the new ones deliver, so that no change is delayed.
    const closeReplaced = () => {
      for (const close of replaced.splice(0)) close();
    };
    // The array's identity tells these streams from later ones; only the current ones may report.
    // Closing these also closes those that they replace, since these may never have delivered.
    // Set `streams` before any stream is closed: tRPC's client reports the end of a stream that it closes.
    const mine: typeof streams = (streams = [closeReplaced]);
    if (items.length === 0) {
      stopPolling();
      closeReplaced();
      // Without a stream, the state is not live. The next stream has to deliver first.
      options.onState("polling");
    } else if (live !== "off") {
      // Poll until the streams deliver: a proxy that holds back a stream reports no error.
      startTimer();
    }
    const groups = live === "stream" ? groupsOf(items, STREAM_OVERHEAD) : [];
    /** Groups that have not delivered. A rejected stream is open for a moment, too. */
    const silent = new Set(groups);
    for (const group of groups) {
      const onLost = () => {
        if (mine !== streams) return;
        silent.add(group);
        if (isPolling) return;
        startPolling();
        if (isUnsteady()) return;
        failures = 0;
        ask(items);
      };
      const close = transport.watch(group, {
        onSnapshot(snapshot) {
          closeReplaced();
          options.onSnapshot(snapshot);
          // Polling goes on until every group has delivered.
          if (mine !== streams || !silent.delete(group) || silent.size > 0) return;
          if (isPolling) {
            // The clocks may have come apart while the page was not connected.
            if (!isUnsteady()) ask(items);
            liveSince = options.monotonic();
          }
          stopPolling();
          options.onState("live");
        },
        onLost,
        onEnded() {
          closeReplaced();
          if (mine !== streams) return;
          onLost();
          clearTimeout(retryTimer);
          const pause = Math.min(FIRST_RETRY * 2 ** failures++, LAST_RETRY);
          retryTimer = setTimeout(open, pause * (0.5 + Math.random() / 2));
        },
      });
      mine.push(close);
    }
  }

  function refresh(): void {
    if (retryTimer !== undefined) open();
    ask(followed);
  }

  return {
    follow(next) {
      const before = new Set(followed);
      // A limit that was rendered but never followed changes nothing.
      if (next.length === followed.length && next.every((item) => before.has(item))) return;
      followed = next;
      if (followed.length === 0) wanted.clear();
      setItems(allowed());
      ask(
        followed.filter((item) => (before.has(item) ? refused.has(item) : !options.isFresh(item))),
      );
    },
    ask,
    refresh,
    reopen: () => void (isOutdated = true),
  };
}
