/**
 * A browser with many tabs and the server that they reach, in memory and on the time of Vitest's fake
 * timers. Tabs are hidden, frozen, closed and killed. A frozen tab runs no task, and runs all waiting
 * tasks when it thaws.
 */
import {
  createRateLimitObserver,
  type RateLimitItem,
  type RateLimitObserver,
  type RateLimitSnapshot,
  type RateLimitTransport,
  type WatchHandlers,
} from "../../client/index.js";
import { idOf } from "../../client/limit-entry.js";
import { type PageGlobals, shareStreamOn } from "../../client/share-stream.js";
import { snapshotOf } from "./hand-transport.js";
import { createWebLocks } from "./web-locks.js";

/** How long the server and the messages take, ms. */
const DELAY = 5;
/** The clock of the server is an hour ahead. */
const AHEAD = 3_600_000;
const FORBIDDEN = Object.assign(new Error("forbidden"), { data: { httpStatus: 403 } });

interface Stream {
  tab: Tab;
  items: readonly RateLimitItem[];
  handlers: WatchHandlers;
}

export interface Tab {
  observer: RateLimitObserver;
  page: PageGlobals;
  /** How many requests the tab has sent for a status. */
  questions(): number;
  setHidden(isHidden: boolean): void;
  /** @param isSudden without the event, as if the tab's process was stopped. */
  freeze(isSudden?: boolean): void;
  /** @param order changes the order in which the tab runs the tasks that have waited. */
  thaw(order?: (tasks: (() => void)[]) => (() => void)[]): void;
  close(): void;
  /** Goes to another page. The browser keeps this page for the "back" button. */
  goAway(): void;
  goBack(): void;
  /** Ends the tab without an event. */
  kill(): void;
}

export interface TabOptions {
  caller?: string | null;
  path?: string;
  /** @default all */
  without?: "locks" | "channel";
}

export function createBrowser() {
  const locks = createWebLocks();
  const streams = new Set<Stream>();
  const channels = new Set<{ name: string; hear: (data: unknown) => void }>();
  const values = new Map<string, number>();
  const refused = new Set<string>();
  let opened = 0;
  let isDown = false;
  const serverNow = () => Date.now() + AHEAD;
  const read = (item: RateLimitItem): RateLimitSnapshot => {
    const now = serverNow();
    const { name, key } = item;
    return snapshotOf(name, values.get(idOf(item)) ?? 3, {
      now,
      ...(key !== undefined && { key }),
    });
  };

  function openTab({ caller = "ann", path = "rateLimit", without }: TabOptions = {}): Tab {
    let isFrozen = false;
    let isGone = false;
    let questions = 0;
    let visibilityState: DocumentVisibilityState = "visible";
    let waiting: (() => void)[] = [];
    const listeners = new Set<[string, (event: Event) => void]>();
    const own: (typeof channels extends Set<infer T> ? T : never)[] = [];

    function run(task: () => void): void {
      if (isGone) return;
      if (isFrozen) waiting.push(task);
      else task();
    }
    const later = (task: () => void, ms: number = DELAY) => setTimeout(() => run(task), ms);
    const client = locks.createClient((task) => later(task, 1));

    class Channel {
      #listen: (event: MessageEvent) => void = () => {};
      readonly #end;
      constructor(name: string) {
        const end = {
          name,
          hear: (data: unknown) => later(() => this.#listen({ data } as MessageEvent), 1),
        };
        this.#end = end;
        channels.add(end);
        own.push(end);
      }
      postMessage(message: unknown) {
        const data: unknown = structuredClone(message);
        for (const end of channels) {
          if (end.name === this.#end.name && end !== this.#end) end.hear(data);
        }
      }
      addEventListener(_type: "message", listener: (event: MessageEvent) => void) {
        this.#listen = listener;
      }
      close() {
        channels.delete(this.#end);
      }
    }

    const page = {
      Date,
      setInterval(task: () => void, ms: number) {
        // A page that thaws runs the task once, not once for each interval that it missed.
        let isWaiting = false;
        return setInterval(() => {
          if (isWaiting) return;
          isWaiting = true;
          run(() => {
            isWaiting = false;
            task();
          });
        }, ms);
      },
      setTimeout: (task: () => void, ms: number) => setTimeout(() => run(task), ms),
      addEventListener: (type: string, listener: (event: Event) => void) => {
        listeners.add([type, listener]);
      },
      removeEventListener: (type: string, listener: (event: Event) => void) => {
        for (const entry of listeners) {
          if (entry[0] === type && entry[1] === listener) listeners.delete(entry);
        }
      },
      document: {
        get visibilityState() {
          return visibilityState;
        },
      },
      ...(without !== "locks" && { navigator: { locks: client.locks } }),
      ...(without !== "channel" && { BroadcastChannel: Channel }),
    } as unknown as PageGlobals;

    const transport: RateLimitTransport = {
      path,
      status: (item) =>
        new Promise((resolve, reject) => {
          questions++;
          later(() => {
            if (isDown) reject(new Error("down"));
            else if (refused.has(idOf(item))) reject(FORBIDDEN);
            else resolve(read(item));
          });
        }),
      watch(items, handlers) {
        opened++;
        const stream: Stream = { tab, items, handlers };
        streams.add(stream);
        later(() => {
          if (!streams.has(stream)) return;
          if (isDown || items.some((item) => refused.has(idOf(item)))) {
            streams.delete(stream);
            handlers.onEnded();
          } else for (const item of items) handlers.onSnapshot(read(item));
        });
        return () => void streams.delete(stream);
      },
    };

    function emit(type: string): void {
      run(() => {
        for (const [wanted, listener] of Array.from(listeners)) {
          if (wanted === type) listener({ type } as Event);
        }
      });
    }

    function kill(): void {
      isGone = true;
      for (const stream of streams) if (stream.tab === tab) streams.delete(stream);
      for (const end of own) channels.delete(end);
      client.end();
    }

    const tab: Tab = {
      page,
      questions: () => questions,
      observer: createRateLimitObserver({
        transport: shareStreamOn(page, transport, { caller }),
        clock: () => Date.now(),
      }),
      setHidden(isHidden) {
        visibilityState = isHidden ? "hidden" : "visible";
        emit("visibilitychange");
      },
      freeze(isSudden = false) {
        if (!isSudden) emit("freeze");
        // The page stops only after the tasks that the event has resolved.
        queueMicrotask(() => queueMicrotask(() => (isFrozen = true)));
      },
      thaw(order = (tasks) => tasks) {
        isFrozen = false;
        const tasks = order(waiting);
        waiting = [];
        for (const task of tasks) run(task);
        emit("resume");
      },
      close() {
        emit("pagehide");
        kill();
      },
      goAway() {
        emit("pagehide");
        tab.setHidden(true);
        tab.freeze();
      },
      goBack() {
        visibilityState = "visible";
        tab.thaw();
        emit("pageshow");
        emit("visibilitychange");
      },
      kill,
    };
    return tab;
  }

  return {
    openTab,
    /** The server refuses the limit to all tabs, and ends the streams that follow it. */
    refuse(item: RateLimitItem) {
      refused.add(idOf(item));
      for (const stream of Array.from(streams)) {
        if (!stream.items.some((other) => refused.has(idOf(other)))) continue;
        streams.delete(stream);
        deliver(stream.tab, () => stream.handlers.onEnded());
      }
    },
    allow: (item: RateLimitItem) => void refused.delete(idOf(item)),
    /** The locks and channels that the tabs have in the browser. */
    async kept() {
      const { held = [], pending = [] } = await locks.createClient((task) => task()).locks.query();
      const locked = [...held, ...pending].map(({ name }) => name!);
      return { locks: locked, channels: [...channels].map(({ name }) => name) };
    },
    /** The open streams, as the server sees them. */
    streams: () => [...streams],
    /** How many streams have been opened so far. */
    opened: () => opened,
    /** Sets what is left of a limit, and tells the streams, as another process's change would. */
    change(item: RateLimitItem, value: number) {
      values.set(idOf(item), value);
      for (const { tab, items, handlers } of streams) {
        const followed = items.find((other) => idOf(other) === idOf(item));
        if (!followed) continue;
        const snapshot = read(item);
        deliver(tab, () => handlers.onSnapshot(snapshot));
      }
    },
    setDown(isNowDown: boolean) {
      isDown = isNowDown;
      if (!isDown) return;
      for (const stream of Array.from(streams)) {
        streams.delete(stream);
        deliver(stream.tab, () => stream.handlers.onEnded());
      }
    },
  };

  function deliver(tab: Tab, task: () => void): void {
    tab.page.setTimeout(task, DELAY);
  }
}
