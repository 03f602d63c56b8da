/** A browser's `EventSource` on the network of a simulation. The source reconnects by itself. */
import type { Planned } from "../timeline.js";
import type { Host, Visitor, Web } from "./web.js";

/** The pause of a browser before it reconnects, ms. */
const RETRY = 3000;
/** How long a process takes to notice that a page has vanished silently, ms. A browser takes longer. */
const NOTICED_AFTER = 30_000;
const BROWSER_NOTICES_AFTER = 60_000;

/** One connection of an `EventSource` to a process. */
interface Connection {
  host: Host;
  /** The signal by which the process sees the end of the connection. */
  end: AbortController;
  isSilent: boolean;
  /** No event may arrive before an earlier event. */
  eventsUntil: number;
}

type Listener = (event: { type: string; data?: string }) => void;

export class EventSourceModel {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSED = 2;
  readyState = 0;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #web: Web;
  readonly page: Visitor;
  readonly #url: URL;
  #connection: Connection | undefined;
  #retry: Planned | undefined;

  constructor(web: Web, page: Visitor, url: string) {
    this.#web = web;
    this.page = page;
    this.#url = new URL(url);
    web.sources.add(this);
    this.#connect();
  }

  get host(): Host | undefined {
    return this.#connection?.host;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined && !this.#connection.isSilent;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  close(): void {
    this.readyState = this.CLOSED;
    this.#retry?.cancel();
    this.#web.sources.delete(this);
    this.#disconnect();
  }

  /** Breaks the connection, so that both sides know. */
  break(): void {
    if (!this.isConnected) return;
    this.#disconnect();
    this.#reconnect();
  }

  /** Silences the connection: it carries nothing any more, and neither side is told for a while. */
  silence(): void {
    const connection = this.#connection;
    if (connection === undefined || connection.isSilent) return;
    connection.isSilent = true;
    this.#web.timeline.plan(BROWSER_NOTICES_AFTER, () => {
      if (connection !== this.#connection) return;
      this.#disconnect();
      this.#reconnect();
    });
  }

  /** The process ends the stream. */
  end(): void {
    const { host, end } = this.#connection ?? {};
    host?.process.read(() => end!.abort());
  }

  #connect(): void {
    const web = this.#web;
    const host = web.host();
    const end = new AbortController();
    const connection: Connection = { host, end, isSilent: false, eventsUntil: 0 };
    this.#connection = connection;
    const input = JSON.parse(this.#url.searchParams.get("input")!) as unknown;
    web.timeline.plan(web.delay(), () => {
      if (connection.isSilent || end.signal.aborted) return;
      if (host.process.isDead) return this.break();
      host.process.read(() => {
        if (end.signal.aborted) return;
        const served = { process: host.process };
        web.served.add(served);
        const path = this.#url.pathname.slice(1);
        const send = (event: string, data: unknown) => {
          this.#carry(connection, event, JSON.stringify(data));
        };
        const { visitor } = this.page;
        void host.site.stream(path, input, visitor, end.signal, send).then(() => {
          web.served.delete(served);
          this.#carry(connection, "error", "");
        });
      });
    });
  }

  /** Brings an event to the page. `error` is the end of the connection. */
  #carry(connection: Connection, type: string, data: string): void {
    const { timeline, heldUntil } = this.#web;
    const { eventsUntil } = connection;
    const arrival = Math.max(eventsUntil, heldUntil, timeline.now + this.#web.delay());
    connection.eventsUntil = arrival;
    timeline.plan(arrival - timeline.now, () => {
      this.page.process.read(() => {
        if (connection !== this.#connection || connection.isSilent) return;
        if (type === "error") {
          this.#connection = undefined;
          return this.#reconnect();
        }
        this.readyState = this.OPEN;
        this.page.heardAt = timeline.now;
        this.#dispatch(type, data);
      });
    });
  }

  #dispatch(type: string, data?: string): void {
    if (this.readyState === this.CLOSED) return;
    const event = data === undefined ? { type } : { type, data };
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }

  #reconnect(): void {
    const { timeline } = this.#web;
    timeline.plan(this.#web.delay(), () => {
      this.page.process.read(() => {
        if (this.readyState === this.CLOSED) return;
        this.readyState = this.CONNECTING;
        this.#dispatch("error");
        if ((this.readyState as number) === this.CLOSED) return;
        this.#retry = timeline.plan(RETRY, () => this.page.process.read(() => this.#again()));
      });
    });
  }

  #again(): void {
    if (this.readyState !== this.CLOSED && this.#connection === undefined) this.#connect();
  }

  /** Closes this side of the connection. */
  #disconnect(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    const { isSilent, end, host } = connection;
    const ms = isSilent ? NOTICED_AFTER : this.#web.delay();
    this.#web.timeline.plan(ms, () => host.process.read(() => end.abort()));
  }
}
