/** How an observer reaches the handler of `createRateLimitHandler`: with fetch and EventSource. */
import type { RateLimitTransport } from "../types.js";
import { readEventStream } from "./event-stream.js";
import { jsonOf } from "./handler-answer.js";
import type { AnyLimits, LimitNameOf, WithLimits } from "./limit-names.js";
import { observersOfUrl } from "./observers-of-url.js";
import { createStatusQuestions } from "./status-questions.js";
import type { EventSourceConstructor, FetchTransportOptions } from "./types.js";

/**
 * The transport of an observer to the handler of `createRateLimitHandler`. The questions of one tick go
 * out as one request. A stream without any event for 2.5 pings of the server, or for 45 seconds at first,
 * is opened again.
 *
 * @typeParam TLimiter the server's limiter or handler, whose type has the names. @default any names
 *
 * @example
 * import { createFetchTransport, createRateLimitObserver } from "trpc-rate-limit/fetch";
 * import { shareStream } from "trpc-rate-limit/fetch";
 *
 * const own = createFetchTransport<typeof limiter>({ url: "/api/limits" });
 * const observer = createRateLimitObserver({ transport: shareStream(own, { caller: userId }) });
 */
export function createFetchTransport<TLimiter extends WithLimits = AnyLimits>(
  options: FetchTransportOptions,
): RateLimitTransport<LimitNameOf<TLimiter>> {
  const { url, headers, credentials = "same-origin" } = options;
  const { fetch: given = (input, init) => globalThis.fetch(input, init) } = options;
  const { EventSource: own = headers ? undefined : pageEventSource() } = options;

  async function send(input: string | URL, init: RequestInit): Promise<Response> {
    const all = new Headers(init.headers);
    const added = typeof headers === "function" ? await headers() : headers;
    for (const [name, value] of new Headers(added)) all.set(name, value);
    return given(input, { credentials, ...init, headers: all });
  }

  /** The URL of a question, relative where the handler's is. */
  const urlOf = (action: string, items: string, rest: Record<string, string> = {}) => {
    const query = new URLSearchParams({ action, items, ...rest }).toString();
    return `${url}${url.includes("?") ? "&" : "?"}${query}`;
  };

  return {
    path: url,
    observers: observersOfUrl(url),
    status: createStatusQuestions(async (items) =>
      jsonOf(await send(urlOf("status", items), { headers: { Accept: "application/json" } })),
    ),
    watch(items, handlers) {
      if (!own) {
        handlers.onEnded();
        return () => {};
      }
      // The EventSource connects again with the same URL, so that the server knows the stream again.
      const stream = String(Math.random());
      const source = new own(urlOf("watch", JSON.stringify(items), { stream }), {
        withCredentials: credentials === "include",
        fetch: send,
      });
      return readEventStream(source, handlers);
    },
  };
}

function pageEventSource(): EventSourceConstructor | undefined {
  return (globalThis as { EventSource?: EventSourceConstructor }).EventSource;
}
