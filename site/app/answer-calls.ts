/**
 * The server's side of calls over `postMessage`. tRPC's own local link makes the calls: it runs the
 * router, formats errors, and sends all values through JSON, as over HTTP. The results of that link are
 * posted to the page. `port-link.ts` is the page's side.
 */
import { unstable_localLink } from "@trpc/client";
import type { AnyTRPCRouter, inferRouterContext, ProcedureType } from "@trpc/server";

/** A message from the page. `id` tells the calls of one page apart. */
export type CallMessage =
  | { id: number; type: ProcedureType; path: string; input: unknown }
  /** The page waits no longer. The server's signal is aborted. */
  | { id: number; type: "stop" }
  /** The page is gone, and waits for none of its calls. */
  | { type: "leave" };

/** A message to the page. Only plain values can be posted, so an error is sent as its shape. */
export type AnswerMessage =
  /** A result that the page's link passes on unchanged: data, or a state of the connection. */
  | { id: number; type: "next"; result: unknown }
  /** A subscription has failed, and begins again by itself. */
  | { id: number; type: "lost"; shape: unknown }
  | { id: number; type: "error"; shape: unknown }
  | { id: number; type: "complete" };

/** A worker's own scope, or one end of a `MessageChannel`: a shared worker has one for each page. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  /** A worker whose script cannot be loaded fires this event. */
  addEventListener(type: "error", listener: () => void): void;
}

/**
 * Answers the calls that come through a port, for as long as the port is open.
 *
 * @param createContext the context of each call, as for an HTTP server.
 */
export function answerCalls<TRouter extends AnyTRPCRouter>(
  port: Port,
  router: TRouter,
  createContext: () => inferRouterContext<TRouter>,
): void {
  const link = unstable_localLink<AnyTRPCRouter>({
    router,
    createContext: async () => createContext(),
  })({});
  const running = new Map<number, { unsubscribe(): void }>();
  const post = (message: AnswerMessage) => port.postMessage(message);

  port.addEventListener("message", ({ data }: MessageEvent<CallMessage>) => {
    if (data.type === "leave") {
      for (const each of running.values()) each.unsubscribe();
      running.clear();
      return;
    }
    const { id, type } = data;
    if (type === "stop") {
      running.get(id)?.unsubscribe();
      running.delete(id);
      return;
    }
    const { path, input } = data;
    const op = { id, type, path, input, context: {}, signal: null };
    const answer = link({ op, next: () => unreachable() }).subscribe({
      next({ result }) {
        if (result.type === "state" && result.error) {
          post({ id, type: "lost", shape: result.error.shape });
        } else post({ id, type: "next", result });
      },
      error({ shape }) {
        running.delete(id);
        post({ id, type: "error", shape });
      },
      complete() {
        running.delete(id);
        post({ id, type: "complete" });
      },
    });
    running.set(id, answer);
  });
}

/** The local link ends the chain: it never asks for a next one. */
function unreachable(): never {
  throw new Error("tRPC's local link has called a next link");
}
