/**
 * A router behind a real HTTP server. A test can count its calls and its open streams, block or delay
 * procedures, and kill and restart the server.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
  type TRPCLink,
} from "@trpc/client";
import type { AnyTRPCRouter, inferRouterContext } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import type { rateLimitResponseMeta } from "../../server/trpc/index.js";
import { EventSource, type FetchLike } from "eventsource";

export interface TestServer<TRouter extends AnyTRPCRouter> {
  readonly url: string;
  /**
   * @param stream whether the client has a link for subscriptions. @default true
   * @param links the links before the terminating links.
   */
  connect(options?: { stream?: boolean; links?: TRPCLink<TRouter>[] }): TRPCClient<TRouter>;
  /** The number of calls received, of this procedure or of all. Each call of a batch counts. */
  requests(path?: string): number;
  /** The number of calls of this procedure in flight. For a subscription, its open streams. */
  open(path: string): number;
  /** Answers calls of this procedure with HTTP 503 until the returned function is called. */
  block(path: string): () => void;
  /** Delays answers to calls of this procedure until the returned function is called. */
  delay(path: string): () => void;
  /** Closes every connection and stops listening, as if the process was killed. */
  kill(): Promise<void>;
  /** Listens on the same port again. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The longest URL that a typical reverse proxy accepts. Node accepts 16 KB. */
export const PROXY_URL_LIMIT = 8192;

export interface TestServerOptions {
  /** Longer URLs receive HTTP 503. @default PROXY_URL_LIMIT */
  maxUrl?: number;
  /** The option of the same name of tRPC's adapters. @default none */
  responseMeta?: typeof rateLimitResponseMeta;
}

export async function startServer<TRouter extends AnyTRPCRouter>(
  router: TRouter,
  createContext: (options: { req: IncomingMessage }) => inferRouterContext<TRouter>,
  { maxUrl = PROXY_URL_LIMIT, responseMeta = () => ({}) }: TestServerOptions = {},
): Promise<TestServer<TRouter>> {
  const received = new Map<string, number>();
  const answering = new Map<string, number>();
  const blocked = new Set<string>();
  const delayed = new Map<string, Promise<void>>();
  let server: Server | undefined;
  let port = 0;

  function count(counts: Map<string, number>, paths: readonly string[], by: 1 | -1): void {
    for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + by);
  }

  function handle(req: IncomingMessage, res: ServerResponse, next: () => void): void {
    const { pathname } = new URL(req.url!, "http://localhost");
    const paths = decodeURIComponent(pathname.slice(1)).split(",");
    count(received, paths, 1);
    count(answering, paths, 1);
    res.once("close", () => count(answering, paths, -1));
    if (paths.some((path) => blocked.has(path)) || req.url!.length > maxUrl) {
      res.writeHead(503).end();
      return;
    }
    const delays = paths.map((path) => delayed.get(path)).filter((wait) => wait !== undefined);
    if (delays.length > 0) delayResponse(res, Promise.all(delays));
    next();
  }

  async function listen(): Promise<void> {
    server = createHTTPServer({
      router,
      createContext,
      responseMeta,
      middleware: (req, res, next) => handle(req, res, next),
    });
    const listening = server.listen(port, "127.0.0.1");
    await new Promise<void>((resolve, reject) => {
      listening.once("listening", resolve).once("error", reject);
    });
    ({ port } = listening.address() as AddressInfo);
  }

  async function kill(): Promise<void> {
    const killed = server;
    if (killed === undefined) return;
    server = undefined;
    const closed = new Promise((resolve) => killed.close(resolve));
    killed.closeAllConnections();
    await closed;
  }

  await listen();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    connect({ stream = true, links = [] } = {}) {
      const batch = httpBatchLink<TRouter>({ url } as never);
      if (!stream) return createTRPCClient<TRouter>({ links: [...links, batch] });
      const subscription = httpSubscriptionLink<TRouter, typeof EventSource>({
        url,
        EventSource,
        eventSourceOptions: { fetch: fetchWithShortRetry },
      } as never);
      return createTRPCClient<TRouter>({
        links: [
          ...links,
          splitLink<TRouter>({
            condition: (operation) => operation.type === "subscription",
            true: subscription,
            false: batch,
          }),
        ],
      });
    },
    requests: (path) =>
      path === undefined
        ? [...received.values()].reduce((sum, calls) => sum + calls, 0)
        : (received.get(path) ?? 0),
    open: (path) => answering.get(path) ?? 0,
    block(path) {
      blocked.add(path);
      return () => blocked.delete(path);
    },
    delay(path) {
      let release = () => {};
      delayed.set(path, new Promise((resolve) => (release = resolve)));
      return () => {
        delayed.delete(path);
        release();
      };
    },
    kill,
    restart: listen,
    [Symbol.asyncDispose]: kill,
  };
}

/** Runs the procedure at once and delays its response, so that the response arrives stale. */
function delayResponse(res: ServerResponse, released: Promise<unknown>): void {
  const end = res.end.bind(res);
  res.end = ((...args: Parameters<typeof res.end>) => {
    void released.then(() => end(...args));
    return res;
  }) as typeof res.end;
}

/** Sets the retry time to 50 ms. By default, an EventSource waits 3 s before it reconnects. */
const fetchWithShortRetry: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  const { body, headers, redirected, status } = response;
  const hint = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("retry: 50\n\n")),
  });
  return {
    url: response.url,
    headers,
    redirected,
    status,
    body: body && body.pipeThrough(hint),
  };
};
