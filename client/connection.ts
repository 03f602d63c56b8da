/**
 * Keeps snapshots coming: one `watch` stream for everything a page shows, and while there is none,
 * `status` queries now and then. The observer only says which limits are wanted.
 */
import { MAX_TIMEOUT } from "../core/durations.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { BATCH_OVERHEAD, groupsOf, STREAM_OVERHEAD } from "./item-groups.js";
import type { RateLimitItem, RateLimitTransport } from "./transport.js";

/**
 * - `"live"`: changes arrive as they happen;
 * - `"polling"`: the stream is not there, so they are asked for;
 * - `"offline"`: the server does not answer at all.
 */
export type ConnectionState = "live" | "polling" | "offline";

export interface ConnectionOptions {
  transport: RateLimitTransport;
  /** ms between two polls while there is no stream. */
  pollInterval: number;
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /** Asks the server for the state of one limit, and takes its answer; rejects where none comes. */
  request(item: RateLimitItem): Promise<void>;
  onState(state: ConnectionState): void;
}

/** An item is told by its identity: the same limit is the same object. */
export interface Connection {
  /** Follows exactly these from now on; those that are new are asked for at once. */
  follow(items: readonly RateLimitItem[]): void;
  /** Asks for the state of these: once more after what is under way, if that is answered. */
  ask(items: readonly RateLimitItem[]): void;
  /** Asks for the state of all that is followed, and opens a lost stream without further pause. */
  refresh(): void;
}

/** Pauses before a stream that ended is opened again, ms: doubling between these, with jitter. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;
/** After how long an answer is no longer waited for, ms: those behind it have to be asked, too. */
const PATIENCE = 10_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { transport, pollInterval, onSnapshot, request, onState } = options;
  let items: readonly RateLimitItem[] = [];
  let streams: (() => void)[] = [];
  let failures = 0;
  /** To be asked for. */
  const wanted = new Set<RateLimitItem>();
  /** Whose last question was answered. */
  const answered = new WeakSet<RateLimitItem>();
  let isWorking = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let pollTimer: ReturnType<typeof setInterval> | undefined;
  let isPolling = false;

  function ask(some: readonly RateLimitItem[]): void {
    for (const item of some) wanted.add(item);
    // Whatever else is asked for in this tick goes along.
    if (!isWorking) queueMicrotask(() => void work());
    isWorking = true;
  }

  /** One group after the other: what is asked in one tick may be sent as one batch, in one URL. */
  async function work(): Promise<void> {
    for (;;) {
      const [group] = groupsOf([...wanted], BATCH_OVERHEAD);
      if (!group) break;
      const answers = group.map((item) => {
        wanted.delete(item);
        answered.delete(item);
        return request(item).then(
          () => answered.add(item),
          // It may be the asking that was refused, and would be again and again.
          () => wanted.delete(item),
        );
      });
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, PATIENCE);
      });
      await Promise.race([Promise.all(answers), late]);
      clearTimeout(timer);
      if (!isPolling) continue;
      // One alone may be kept secret by a server that is there.
      onState(items.some((item) => answered.has(item)) ? "polling" : "offline");
    }
    isWorking = false;
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
    // The old streams stay until the new ones speak, so that no change has to wait for those.
    const closeReplaced = () => {
      for (const close of replaced.splice(0)) close();
    };
    if (items.length === 0) closeReplaced();
    else {
      // Until they speak: what holds back streams does not say so. And not while answers are late,
      // since a server that is slow is not helped by more questions.
      const next = () => isWorking || poll();
      pollTimer ??= setInterval(next, Math.min(pollInterval, MAX_TIMEOUT));
    }
    // Also tells these from those that replace them, after which their end means nothing. Whoever
    // closes these closes those that they replace, too: they may never have spoken.
    const mine: typeof streams = (streams = [closeReplaced]);
    const groups = groupsOf(items, STREAM_OVERHEAD);
    /** Those that have not spoken: a stream that is refused is open for a moment, too. */
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
          // The others' items still have to be asked for.
          if (mine !== streams || !silent.delete(group) || silent.size > 0) return;
          failures = 0;
          // The clocks may have moved apart while nothing was heard.
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
      // What was only rendered, and never looked at, leaves everything as it is.
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
