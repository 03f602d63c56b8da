/** The types of the transport over fetch. */

/** The parts of an EventSource that are used here. Browsers and the package `eventsource` have them. */
export interface EventSourceLike {
  /** 0 while it connects, 1 while it is open, 2 once it is closed. */
  readonly readyState: number;
  /** Calls the listener for each event of this type. */
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  /** Ends the connection. */
  close(): void;
}

/** The options of an EventSource. The EventSource of browsers ignores `fetch`. */
export interface EventSourceInit {
  /** Whether cookies go to another origin, too. */
  withCredentials: boolean;
  /** Sends a request with the transport's `headers`, for the package `eventsource`. */
  fetch(url: string | URL, init: object): Promise<Response>;
}

/** The constructor of an EventSource. */
export type EventSourceConstructor = new (url: string, init: EventSourceInit) => EventSourceLike;

/** The options of `createFetchTransport`. */
export interface FetchTransportOptions {
  /** The URL of the handler of `createRateLimitHandler`, such as `/api/limits`. */
  url: string;
  /** Sends the questions. @default the page's own */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * The header fields of each request, such as `Authorization`, or a function that is asked for them
   * before each request. The EventSource of browsers cannot send header fields. So with `headers` and
   * without `EventSource`, there is no stream, and the observer polls.
   * @default none
   */
  headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined;
  /** Whether cookies go to the handler, as `fetch` has it. @default "same-origin" */
  credentials?: RequestCredentials | undefined;
  /**
   * The constructor of the streams. That of the package `eventsource` works in React Native and in
   * Node.js, and sends `headers`. Without one, the observer polls.
   * @default the page's own, unless there are `headers`
   */
  EventSource?: EventSourceConstructor | undefined;
}
