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
  /** ms since some fixed instant; never set. */
  monotonic: () => number;
  /** ms between two polls while there is no stream. */
  pollInterval: number;
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /**
   * A snapshot that answered a request.
   *
   * @param duration ms between sending the one and receiving the other.
   * @param overtaken whether something else has told of the same limit in between.
   */
  onAnswer(snapshot: RateLimitSnapshot, duration: number, overtaken: boolean): void;
  onState(state: ConnectionState): void;
}

export interface Connection {
  /** Follows exactly these from now on; those not in `known` are asked for at once. */
  follow(items: readonly RateLimitItem[], known: (item: RateLimitItem) => boolean): void;
  /** Asks for the state of one limit. */
  ask(item: RateLimitItem): Promise<unknown>;
  /** Something later than what requests under way will answer has been heard of a limit. */
  overtake(item: RateLimitItem): void;
  /** Asks for the state of all that is followed, and opens a lost stream without further pause. */
  refresh(): void;
  close(): void;
}

/** Pauses before a stream that ended is opened again, ms: doubling between these, with jitter. */
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;
/** After how long an answer is no longer waited for, ms: those behind it have to be asked, too. */
const PATIENCE = 10_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { transport, monotonic, pollInterval, onSnapshot, onAnswer, onState } = options;
  let items: readonly RateLimitItem[] = [];
  let streams: { close(): void }[] = [];
  /** Distinguishes the streams that are wanted from those being replaced, whose end means nothing. */
  let generation = 0;
  let failures = 0;
  /** Requests under way, and whether other news have overtaken them. */
  const asked = new Set<{ item: RateLimitItem; overtaken: boolean }>();
  let asking = Promise.resolve(false);
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;

  function ask(item: RateLimitItem): Promise<boolean> {
    const sentAt = monotonic();
    const answering = { item, overtaken: false };
    asked.add(answering);
    return transport
      .status(item)
      .then(
        (snapshot) => {
          onAnswer(snapshot, monotonic() - sentAt, answering.overtaken);
          return true;
        },
        () => false,
      )
      .finally(() => asked.delete(answering));
  }

  /** Returns whether there was any answer. */
  function askAll(some: readonly RateLimitItem[]): Promise<boolean> {
    // One after the other: what is asked in one tick may be sent as one batch, in one URL.
    const turn = async () => {
      let answered = false;
      for (const group of groupsOf(some, BATCH_OVERHEAD)) {
        let timer: ReturnType<typeof setTimeout>;
        const late = new Promise<boolean[]>((resolve) => {
          timer = setTimeout(resolve, PATIENCE, []);
        });
        const answers = Promise.all(group.map(ask)).finally(() => clearTimeout(timer));
        if ((await Promise.race([answers, late])).includes(true)) answered = true;
      }
      return answered;
    };
    return (asking = asking.then(turn, turn));
  }

  function overtake({ name, key }: RateLimitItem): void {
    for (const answering of asked) {
      const { item } = answering;
      if (item.name === name && item.key === key) answering.overtaken = true;
    }
  }

  function startPolling(): void {
    if (pollTimer !== undefined || items.length === 0) return;
    const poll = async () => {
      const mine = pollTimer;
      const answered = await askAll(items);
      // Stopped meanwhile, or even started anew, and then somebody else goes on.
      if (pollTimer !== mine) return;
      onState(answered ? "polling" : "offline");
      pollTimer = setTimeout(() => void poll(), Math.min(pollInterval, MAX_TIMEOUT));
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
    retryTimer = undefined;
    const mine = ++generation;
    const replaced = streams;
    // The old streams stay until the new ones speak, so that no change falls between them.
    const closeReplaced = () => {
      for (const stream of replaced.splice(0)) stream.close();
    };
    if (items.length === 0) closeReplaced();
    streams = [];
    const groups = groupsOf(items, STREAM_OVERHEAD);
    /** Those that have spoken: a stream that is refused is open for a moment, too. */
    const up = new Set<typeof items>();
    let wasLost = false;
    for (const group of groups) {
      const close = transport.watch(group, {
        onSnapshot(snapshot) {
          closeReplaced();
          onSnapshot(snapshot);
          if (mine !== generation || up.has(group)) return;
          up.add(group);
          // The others' items still have to be asked for.
          if (up.size < groups.length) return;
          failures = 0;
          stopPolling();
          onState("live");
          // The clocks may have moved apart while nothing was heard.
          if (wasLost) refresh();
          wasLost = false;
        },
        onLost() {
          if (mine !== generation) return;
          up.delete(group);
          wasLost = true;
          startPolling();
        },
        onEnded() {
          closeReplaced();
          if (mine !== generation) return;
          up.delete(group);
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
    if (retryTimer !== undefined) open();
    void askAll(items);
  }

  return {
    follow(next, known) {
      items = next;
      open();
      void askAll(items.filter((item) => !known(item)));
      if (items.length === 0) stopPolling();
    },
    ask: (item) => askAll([item]),
    overtake,
    refresh,
    close() {
      items = [];
      open();
      stopPolling();
    },
  };
}
