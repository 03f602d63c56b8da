/**
 * One stream for all tabs of a browser. The tabs elect a leader by a Web Lock. The leader holds the
 * stream for the limits of all tabs, and tells the other tabs by a BroadcastChannel. A lock ends with
 * its tab, however the tab ends, so the next leader follows at once.
 *
 * Each tab holds a second lock for what it follows. The name of that lock lists the limits. The
 * leader reads the names of all held locks, so the limits of a closed tab go with it.
 *
 * A snapshot is passed on as it came, with its own `now`. To an observer, the `now` of a stream is no
 * more than a lower bound of the server's time. So a tab that handles a message late learns nothing
 * wrong from it.
 */
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { idOf } from "./limit-entry.js";
import { type Connection, createStreamOrPoll } from "./stream-or-poll.js";
import type { RateLimitItem, RateLimitTransport, WatchHandlers } from "./types.js";

/** The options of `shareStream`. */
export interface ShareStreamOptions {
  /**
   * The caller, such as the id of the user who is logged in. Tabs share a stream only if they have the
   * same `caller`, so callers that get different answers from the server must have different ones.
   * `undefined`, `null` and an empty text share nothing.
   */
  caller: string | null | undefined;
}

/** The globals of a page that are needed. A test has many pages. */
export interface PageGlobals extends Pick<
  typeof globalThis,
  "addEventListener" | "removeEventListener" | "setInterval" | "setTimeout" | "Date"
> {
  navigator?: { locks?: Pick<LockManager, "request" | "query"> };
  BroadcastChannel?: new (
    name: string,
  ) => Pick<BroadcastChannel, "postMessage" | "addEventListener" | "close">;
  document?: Pick<Document, "visibilityState">;
}

/**
 * The version of messages and of the names of locks. During a deployment, tabs of two versions of this
 * package are open. Tabs of another version are not heard, and have a leader of their own. Raise
 * `VERSION` with every change of the messages between tabs.
 */
const VERSION = 1;
/** How often the leader says that it is there, ms. Browsers run timers of hidden pages this often. */
const BEAT = 1000;
/** How long the leader may be silent, ms. Then a visible tab takes the lock from it. */
const SILENCE = 3 * BEAT;
/** How long a hidden tab goes on as the leader, ms: people switch between tabs. */
const HIDDEN = 30_000;
/** The events of a page. `online` is for a stream that waits to be opened again. */
const EVENTS = ["visibilitychange", "freeze", "resume", "pagehide", "pageshow", "online"];

/** From any tab: the tab follows these limits. */
interface Hello {
  id: number;
  items: readonly RateLimitItem[];
  /** Whether it replaces a watch of the same limits, so that the stream has to be opened anew. */
  isAnew?: boolean;
}
/** One stream, as the observer of this tab knows it. */
interface Watch extends Hello, WatchHandlers {
  /** Releases the lock of this watch. Present once the lock was requested. */
  release?: () => void;
}
/** From the leader: says that the leader is there, and may say more. */
interface News {
  snapshot?: RateLimitSnapshot;
  /** The watch that the snapshot is for. @default all */
  to?: number;
  isLost?: boolean;
}

/**
 * A transport whose stream is shared by all tabs of a browser that reach the same router for the same
 * caller. A hidden tab holds the stream for 30 seconds at most. Without Web Locks or BroadcastChannel,
 * as in React Native and on a page without HTTPS, the result is the given transport.
 *
 * @param transport of `createTRPCTransport`. A transport of your own says in `path` which router it reaches.
 *
 * @example
 * import { createTRPCTransport, shareStream } from "trpc-rate-limit/client";
 *
 * const own = createTRPCTransport(trpcClient, "rateLimit");
 * const transport = shareStream(own, { caller: userId }); // for createRateLimitObserver
 */
export function shareStream<TName extends string>(
  transport: RateLimitTransport<TName>,
  options: ShareStreamOptions,
): RateLimitTransport<TName> {
  return shareStreamOn(globalThis, transport, options);
}

/** @param page the globals of this page: some of them stop while the page is hidden or frozen. */
export function shareStreamOn<TName extends string>(
  page: PageGlobals,
  transport: RateLimitTransport<TName>,
  { caller }: ShareStreamOptions,
): RateLimitTransport<TName> {
  const { observers, path } = transport;
  /** Other tabs may follow limits of other names. */
  const server = transport as unknown as RateLimitTransport;
  const { BroadcastChannel, document } = page;
  const locks = page.navigator?.locks;
  if (!caller || !locks || !BroadcastChannel) return transport;
  // As JSON, so that no lock's name begins with the name of another lock.
  const name = `trpc-rate-limit ${VERSION}${JSON.stringify([path, caller])}`;
  const watches = new Set<Watch>();
  /** Present while this tab takes part. A page in the browser's back-forward cache takes no part. */
  let channel: InstanceType<typeof BroadcastChannel> | undefined;
  /** Present while this tab leads or waits to lead. Aborting it releases the lock. */
  let candidacy: AbortController | undefined;
  /** The real stream, while this tab leads. */
  let stream: Connection | undefined;
  /** Whether `stream` was lost, and has delivered nothing since. */
  let isDown = false;
  /** The limits of other tabs that the server has refused once. The server is asked for them each time. */
  const refused = new WeakSet<RateLimitItem>();
  /** The limits that `stream` follows, by id. The same limit is the same object. */
  let items = new Map<string, RateLimitItem>();
  /** The last snapshot of each limit that `stream` has brought, by id. */
  const last = new Map<string, RateLimitSnapshot>();
  let ticker: ReturnType<typeof setInterval>;
  let hiddenTimer: ReturnType<typeof setTimeout>;
  /** When this tab had its last turn as the leader, epoch ms. */
  let lastTurn: number;
  /** How many beats of the leader are missing. No time is measured: a busy tab handles messages late, too. */
  let missing = 0;

  const isHidden = () => document?.visibilityState === "hidden";
  /** Whether this leader was stuck for so long that another tab may have taken the lock. */
  const isOverdue = () => page.Date.now() - lastTurn >= SILENCE;

  /** Waits to lead. A hidden tab stops after `HIDDEN`. */
  function stand(): void {
    if (!candidacy) requestLock();
    clearTimeout(hiddenTimer);
    if (isHidden()) hiddenTimer = page.setTimeout(withdraw, HIDDEN);
  }

  function requestLock(steal: boolean = false): void {
    withdraw();
    const { signal } = (candidacy = new AbortController());
    ticker = page.setInterval(tick, BEAT);
    locks!
      // A request that steals cannot be aborted, and is granted at once.
      .request(name, steal ? { steal } : { signal }, () => {
        if (signal.aborted) return undefined;
        lead();
        return new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      })
      .catch(({ name: reason }: Error) => {
        if (signal.aborted) return;
        // A sandboxed frame has no locks, and leads itself alone.
        if (reason !== "AbortError") return lead();
        // The lock was stolen.
        standAnew();
      });
  }

  /** Stands again. A hidden tab does not: its timers can be so late that it would lose the lock each time. */
  function standAnew(): void {
    withdraw();
    if (!isHidden()) stand();
  }

  function withdraw(): void {
    const led = stream;
    clearTimeout(hiddenTimer);
    clearInterval(ticker);
    missing = 0;
    stream = undefined;
    last.clear();
    led?.follow([]);
    candidacy?.abort();
    candidacy = undefined;
  }

  /**
   * A limit that the server refuses ends the whole stream. The tab of that limit asks the server itself,
   * and then leaves the limit out. However, that tab can be frozen, or poll seldom. So the leader asks
   * for the limits of other tabs while there is no stream.
   */
  async function checkOther(item: RateLimitItem): Promise<void> {
    const isOwn = [...watches].some((watch) => watch.items.includes(item));
    if (!isOwn && (isDown || refused.has(item))) await server.status(item);
  }

  function lead(): void {
    stream = createStreamOrPoll({
      transport: server,
      live: "stream",
      // Only says how long a stream may be silent at first. Each tab polls for itself.
      pollInterval: 5000,
      monotonic: () => performance.now(),
      isFresh: () => true,
      request: checkOther,
      onRefused: (item) => void refused.add(item),
      onSnapshot(snapshot) {
        if (!isInOffice()) return;
        isDown = false;
        last.set(idOf(snapshot), snapshot);
        tell({ snapshot });
      },
      onState(state) {
        if (!stream || state === "live") return;
        isDown = true;
        last.clear();
        tell({ isLost: true });
      },
    });
    lastTurn = page.Date.now();
    tick();
  }

  /** Whether this tab leads. A leader that was stuck stands again before it says anything. */
  function isInOffice(): boolean {
    if (stream && isOverdue()) standAnew();
    return stream !== undefined;
  }

  function tick(): void {
    if (isInOffice()) {
      lastTurn = page.Date.now();
      tell({});
      void follow();
    } else if (isHidden()) {
      // A hidden tab need not wait to lead: it hears from the leader, and needs no news without one.
      withdraw();
    } else if (++missing * BEAT > SILENCE) requestLock(true);
  }

  /** Follows what all tabs follow. Own limits first: their locks may not be there yet. */
  async function follow(): Promise<void> {
    const { held = [] } = await locks!.query().catch((): LockManagerSnapshot => ({}));
    const lists = [...watches].map((watch) => watch.items);
    for (const lock of held) {
      const [before, list] = lock.name!.split(name);
      if (before === "" && list) lists.push(JSON.parse(list) as RateLimitItem[]);
    }
    const known = items;
    items = new Map(lists.flat().map((item) => [idOf(item), known.get(idOf(item)) ?? item]));
    for (const id of last.keys()) if (!items.has(id)) last.delete(id);
    stream?.follow([...items.values()]);
  }

  function greet({ id, items: own }: Hello, isAnew: boolean = false): void {
    const hello: Hello = { id, items: own, isAnew };
    if (isInOffice()) welcome(hello);
    else post(hello);
  }

  function welcome({ id: to, items: wanted, isAnew }: Hello): void {
    if (!isInOffice()) return;
    for (const id of wanted.map(idOf)) {
      // Another object is another limit to `stream`, which then opens itself anew.
      if (isAnew) items.delete(id);
      const snapshot = !isAnew && last.get(id);
      if (snapshot) tell({ snapshot, to });
    }
    // This tab may not lead any more: news that it told may have made its page close the observer.
    stream?.refresh();
    void follow();
  }

  function post(message: Hello | News): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target
    channel?.postMessage(message);
  }

  function tell(news: News): void {
    post(news);
    hear(news);
  }

  function hear({ snapshot, to, isLost }: News): void {
    missing = 0;
    for (const watch of Array.from(watches)) {
      if (isLost) watch.onLost();
      if (!snapshot || (to ?? watch.id) !== watch.id) continue;
      if (watch.items.some((item) => idOf(item) === idOf(snapshot))) watch.onSnapshot(snapshot);
    }
  }

  function onPageEvent({ type }: Event): void {
    // With a lock or an open channel, the browser would not keep the page to go back to.
    if (type === "pagehide") disconnect();
    else if (type === "freeze") withdraw();
    else if (!isHidden()) {
      if (!channel) connect();
      stand();
      // The leader says what this tab may have missed.
      for (const watch of watches) greet(watch);
    } else if (candidacy) stand();
  }

  function connect(): void {
    channel = new BroadcastChannel!(name);
    channel.addEventListener("message", ({ data }: MessageEvent<Hello | News>) => {
      if ("items" in data) welcome(data);
      else hear(data);
    });
    for (const watch of watches) hold(watch);
  }

  function disconnect(): void {
    withdraw();
    for (const watch of watches) watch.release?.();
    channel?.close();
    channel = undefined;
  }

  /** Takes the lock that names what this tab follows, and then greets the leader. */
  function hold(watch: Watch, isAnew: boolean = false): void {
    const released = new Promise<void>((resolve) => (watch.release = resolve));
    const granted = () => {
      if (watches.has(watch)) greet(watch, isAnew);
      return released;
    };
    locks!.request(name + JSON.stringify(watch.items), { mode: "shared" }, granted).catch(granted);
  }

  function join(): void {
    connect();
    for (const type of EVENTS) page.addEventListener?.(type, onPageEvent, true);
  }

  function leave(): void {
    disconnect();
    for (const type of EVENTS) page.removeEventListener?.(type, onPageEvent, true);
  }

  return {
    ...(observers && { observers }),
    path,
    status: (item) => transport.status(item),
    watch(followed, handlers) {
      const list = JSON.stringify(followed);
      const isAnew = [...watches].some((other) => JSON.stringify(other.items) === list);
      const watch: Watch = {
        ...handlers,
        id: Math.random(),
        items: followed,
      };
      if (watches.size === 0) join();
      watches.add(watch);
      if (channel) {
        stand();
        hold(watch, isAnew);
      }
      return () => {
        watch.release?.();
        if (watches.delete(watch) && watches.size === 0) leave();
      };
    },
  };
}
