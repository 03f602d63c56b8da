/**
 * Keeps snapshots coming: one `watch` stream for everything that a page shows, and `status` queries
 * while there is no stream. The observer only says which limits it follows.
 */
import { MAX_TIMEOUT } from "../core/durations.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { BATCH_OVERHEAD, groupsOf, STREAM_OVERHEAD } from "./item-groups.js";
import type { ConnectionState, RateLimitItem, RateLimitTransport } from "./types.js";

export interface ConnectionOptions {
  transport: RateLimitTransport;
  /** ms between two polls while there is no stream. */
  pollInterval: number;
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /** Asks the server for one limit and takes the answer; rejects where none comes. */
  request(item: RateLimitItem): Promise<void>;
  onState(state: ConnectionState): void;
}

/** Items are compared by identity: the same limit is the same object. */
export interface Connection {
  /** Follows exactly these from now on, and asks for the new ones at once. */
  follow(items: readonly RateLimitItem[]): void;
  /** Asks for these; once more if a request for them is already in flight. */
  ask(items: readonly RateLimitItem[]): void;
  /** Asks for all that is followed, and reopens a lost stream without further pause. */
  refresh(): void;
}

/** Pauses before an ended stream is opened again, ms: doubling between these, with jitter. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;
/** How long an answer may hold up the next requests, ms. */
const ANSWER_TIMEOUT = 10_000;

export function createStreamOrPoll(options: ConnectionOptions): Connection {
  const { transport, pollInterval, onSnapshot, request, onState } = options;
  let items: readonly RateLimitItem[] = [];
  let streams: (() => void)[] = [];
  let failures = 0;
  /** The items to ask for. */
  const wanted = new Set<RateLimitItem>();
  /** The items whose last request was answered. */
  const answered = new WeakSet<RateLimitItem>();
  let isAsking = false;
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
      const answers = group.map((item) => {
        wanted.delete(item);
        answered.delete(item);
        return request(item).then(
          () => answered.add(item),
          // Do not repeat it: the request itself may be what the server denies.
          () => wanted.delete(item),
        );
      });
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, ANSWER_TIMEOUT);
      });
      await Promise.race([Promise.all(answers), late]);
      clearTimeout(timer);
      if (!isPolling) continue;
      // One answer is enough: the server may be there, and forbid the other limits.
      onState(items.some((item) => answered.has(item)) ? "polling" : "offline");
    }
    isAsking = false;
  }

  function poll(): void {
    if (!isPolling) onState("polling");
    isPolling = true;
    ask(items);
  }

  function stopPolling(): void {
    clearInterval(pollTimer);
    pollTimer = undefined;
    isPolling = false;
  }

  function open(): void {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    const replaced = streams;
    // Keep the old streams until the new ones deliver, so that no change is delayed.
    const closeReplaced = () => {
      for (const close of replaced.splice(0)) close();
    };
    if (items.length === 0) closeReplaced();
    else {
      // Poll until the streams deliver: a proxy that holds back a stream reports no error. Do not
      // poll while answers are late: more requests do not help a slow server.
      const next = () => isAsking || poll();
      pollTimer ??= setInterval(next, Math.min(pollInterval, MAX_TIMEOUT));
    }
    // The array's identity tells these streams from later ones; only the current ones may report.
    // Closing these also closes those that they replace, since these may never have delivered.
    const mine: typeof streams = (streams = [closeReplaced]);
    const groups = groupsOf(items, STREAM_OVERHEAD);
    /** Groups that have not delivered. A rejected stream is open for a moment, too. */
    const silent = new Set(groups);
    for (const group of groups) {
      const onLost = () => {
        if (mine !== streams) return;
        silent.add(group);
        if (!isPolling) poll();
      };
      const close = transport.watch(group, {
        onSnapshot(snapshot) {
          closeReplaced();
          onSnapshot(snapshot);
          // Polling goes on until every group has delivered.
          if (mine !== streams || !silent.delete(group) || silent.size > 0) return;
          failures = 0;
          // The clocks may have come apart while the page was not connected.
          if (isPolling) ask(items);
          stopPolling();
          onState("live");
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
    ask(items);
  }

  return {
    follow(next) {
      const added = next.filter((item) => !items.includes(item));
      // A limit that was rendered but never followed changes nothing.
      if (added.length === 0 && next.length === items.length) return;
      items = next;
      if (items.length === 0) {
        stopPolling();
        wanted.clear();
      }
      open();
      ask(added);
    },
    ask,
    refresh,
  };
}
