/**
 * A link of tRPC that ends the chain, and makes each call through a port: to a web worker, or to the
 * other end of a `MessageChannel`. `answer-calls.ts` is the server's side.
 */
import { type OperationResultEnvelope, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import type { AnswerMessage, CallMessage, Port } from "./answer-calls.js";

/** @param port a `MessagePort` must be started by the caller. */
export function portLink<TRouter extends AnyTRPCRouter>(port: Port): TRPCLink<TRouter> {
  type Envelope = OperationResultEnvelope<unknown, TRPCClientError<TRouter>>;
  const waiting = new Map<number, (answer: AnswerMessage) => void>();
  let lastId = 0;
  const post = (message: CallMessage) => port.postMessage(message);
  /** The same error as for a response whose body has this shape. */
  const errorOf = (shape: unknown) => TRPCClientError.from<TRouter>({ error: shape } as never);

  /** Set when the other end could not be loaded. The other end answers nothing then. */
  let failure: unknown;
  let hasAnswered = false;

  port.addEventListener("message", ({ data }: MessageEvent<AnswerMessage>) => {
    hasAnswered = true;
    waiting.get(data.id)?.(data);
  });
  port.addEventListener("error", () => {
    // A later error is about one task of a worker that still runs.
    if (hasAnswered) return;
    failure = { code: -32603, message: "The server of this page could not be loaded" };
    for (const [id, take] of waiting) take({ id, type: "error", shape: failure });
  });

  return () =>
    ({ op: { type, path, input, signal } }) =>
      observable((observer) => {
        // Not the operation's own id: a link before this one may send an operation again.
        const id = ++lastId;
        const forget = () => {
          signal?.removeEventListener("abort", onAbort);
          return waiting.delete(id);
        };
        const stop = () => {
          // A call that has its answer needs no stop.
          if (forget()) post({ id, type: "stop" });
        };
        const onAbort = () => {
          stop();
          observer.error(TRPCClientError.from(signal!.reason as Error));
        };
        if (signal?.aborted) return onAbort();
        if (failure !== undefined) return observer.error(errorOf(failure));
        signal?.addEventListener("abort", onAbort);
        waiting.set(id, (answer) => {
          if (answer.type === "next") {
            return observer.next({ result: answer.result } as Envelope);
          }
          if (answer.type === "lost") {
            const error = errorOf(answer.shape);
            return observer.next({ result: { type: "state", state: "connecting", error } });
          }
          forget();
          if (answer.type === "complete") observer.complete();
          else observer.error(errorOf(answer.shape));
        });
        post({ id, type, path, input });
        return stop;
      });
}
