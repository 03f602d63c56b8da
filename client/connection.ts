/**
 * Keeps snapshots coming: one `watch` stream for everything a page shows, and while there is none,
 * `status` queries now and then. The observer only says which limits are wanted.
 */
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { RateLimitItem, RateLimitTransport } from "./transport.js";

/**
 * - `"live"`: changes arrive as they happen;
 * - `"polling"`: the stream is not there, so they are asked for;
 * - `"offline"`: the server does not answer at all.
 */
export type ConnectionState = "live" | "polling" | "offline";

export interface ConnectionOptions {
  transport: RateLimitTransport;
  clock: () => number;
  /** ms between two polls while there is no stream. */
  pollInterval: number;
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /** A snapshot that answered a request sent and received at these local instants. */
  onAnswer(snapshot: RateLimitSnapshot, sentAt: number, receivedAt: number): void;
  onState(state: ConnectionState): void;
}

export interface Connection {
  /** Follows exactly these from now on; those not in `known` are asked for at once. */
  follow(items: readonly RateLimitItem[], known: (item: RateLimitItem) => boolean): void;
  /** Asks for the state of all that is followed. */
  refresh(): void;
  close(): void;
}

/** The router takes at most this many items per stream. */
const MAX_ITEMS = 100;
/** Pauses before a stream that ended is opened again, ms: doubling between these, with jitter. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { transport, clock, pollInterval, onSnapshot, onAnswer, onState } = options;
  let items: readonly RateLimitItem[] = [];
  let streams: { close(): void }[] = [];
  /** Distinguishes the streams that are wanted from those being replaced, whose end means nothing. */
  let generation = 0;
  let failures = 0;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;

  function ask(item: RateLimitItem): Promise<boolean> {
    const sentAt = clock();
    return transport.status(item).then(
      (snapshot) => {
        onAnswer(snapshot, sentAt, clock());
        return true;
      },
      () => false,
    );
  }

  function startPolling(): void {
    if (pollTimer !== undefined || items.length === 0) return;
    const poll = async () => {
      const answered = await Promise.all(items.map(ask));
      if (pollTimer === undefined) return;
      onState(answered.includes(true) ? "polling" : "offline");
      pollTimer = setTimeout(() => void poll(), pollInterval);
    };
    // Set before the first answer, so that a stream that comes up meanwhile can stop the polling.
    pollTimer = setTimeout(() => void poll(), 0);
  }

  function stopPolling(): void {
    clearTimeout(pollTimer);
    pollTimer = undefined;
  }

  function open(): void {
    clearTimeout(retryTimer);
    const mine = ++generation;
    const replaced = streams;
    // The old streams stay until the new ones speak, so that no change falls between them.
    const closeReplaced = () => {
      for (const stream of replaced.splice(0)) stream.close();
    };
    if (items.length === 0) closeReplaced();
    streams = [];
    for (let i = 0; i < items.length; i += MAX_ITEMS) {
      let wasLost = false;
      const close = transport.watch(items.slice(i, i + MAX_ITEMS), {
        onSnapshot(snapshot) {
          closeReplaced();
          onSnapshot(snapshot);
        },
        onLive() {
          if (mine !== generation) return;
          failures = 0;
          stopPolling();
          onState("live");
          // The clocks may have moved apart while nothing was heard.
          if (wasLost) refresh();
          wasLost = false;
        },
        onLost() {
          if (mine !== generation) return;
          wasLost = true;
          startPolling();
        },
        onEnded() {
          closeReplaced();
          if (mine !== generation) return;
          startPolling();
          clearTimeout(retryTimer);
          const pause = Math.min(FIRST_RETRY * 2 ** failures++, LAST_RETRY);
          retryTimer = setTimeout(open, pause * (0.5 + Math.random() / 2));
        },
      });
      streams.push({ close });
    }
  }

  function refresh(): void {
    for (const item of items) void ask(item);
  }

  return {
    follow(next, known) {
      items = next;
      open();
      for (const item of items) if (!known(item)) void ask(item);
      if (items.length === 0) stopPolling();
    },
    refresh,
    close() {
      items = [];
      open();
      stopPolling();
    },
  };
}
