/**
 * Sees the calls of a client by two links of its own: one link ahead of all others, and one link before
 * the link that sends. A call that is between the two waits in the page.
 */
import {
  type Operation,
  type OperationLink,
  TRPCClientError,
  type TRPCUntypedClient,
} from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { OBSERVERS } from "../transport.js";
import type { Call, Calls } from "./calls.js";
import type { Outcomes } from "./outcomes.js";

type Link = OperationLink<AnyTRPCRouter>;

/** Whether calls get to the server. */
export interface Network {
  /** The same for all calls of the client. */
  isOffline(): boolean;
  /** Calls `stop` when the network goes away; returns a function that forgets `stop`. */
  onLost(stop: () => void): () => void;
}

/** @returns whether the calls of this client can be seen. */
export function recordCalls(
  client: TRPCUntypedClient<AnyTRPCRouter>,
  calls: Calls,
  outcomes: Outcomes,
  network: Network,
): boolean {
  // The client reads its links again for each call. `links` is private, but this runs for developers only.
  const { links } = client as unknown as { links?: unknown };
  if (!Array.isArray(links) || links.length === 0) return false;
  const open = new Map<number, Call>();

  const ahead: Link = ({ op, next }) => {
    // The stream stays, because it may serve other tabs, too. Observers that are offline do not listen.
    if (isWatch(op)) return next(op);
    return observable((observer) => {
      // Such a call is a question of an observer, and takes no tokens.
      const { [OBSERVERS]: isQuestion } = op.context as { [OBSERVERS]?: true };
      const call = isQuestion ? undefined : calls.begin(op.path, op.type === "mutation");
      if (call) open.set(op.id, call);
      let isOver = false;
      const end = (report: (seen: Call) => void) => {
        if (isOver) return;
        isOver = true;
        forget();
        open.delete(op.id);
        if (call) report(call);
      };
      const fail = (error: unknown) => {
        end((seen) => outcomes.failed(seen, error));
        observer.error(error as TRPCClientError<AnyTRPCRouter>);
      };
      let stop = () => {};
      const forget = network.onLost(() => {
        stop();
        fail(offlineError());
      });
      if (network.isOffline()) {
        fail(offlineError());
        return () => {};
      }
      const start = () => {
        const sent = next(op).subscribe({
          next(value) {
            // A subscription has states and a start before it has an answer.
            const { type = "data" } = value.result;
            if (type === "data") {
              // A subscription goes on after its first answer.
              if (op.type !== "subscription") end((seen) => outcomes.answered(seen));
              else if (call) outcomes.answered(call);
            }
            observer.next(value);
          },
          error: fail,
          complete() {
            end(() => {});
            observer.complete();
          },
        });
        stop = () => sent.unsubscribe();
      };
      if (call) calls.within(call, start);
      else start();
      if (call && !isOver) outcomes.waits(call);
      return () => {
        end((seen) => outcomes.failed(seen, undefined));
        stop();
      };
    });
  };

  const last: Link = ({ op, next }) =>
    observable((observer) => {
      const call = open.get(op.id);
      if (!call) return next(op).subscribe(observer);
      calls.sent(call);
      // Links and observers learn of the answer in here.
      return next(op).subscribe({
        next: (value) => calls.within(call, () => observer.next(value)),
        error: (error) => calls.within(call, () => observer.error(error)),
        complete: () => observer.complete(),
      });
    });

  (links as Link[]).splice(links.length - 1, 0, last);
  (links as Link[]).unshift(ahead);
  return true;
}

/** Whether the operation is the stream of an observer, wherever its router stands. */
function isWatch({ type, path, input }: Operation): boolean {
  const { items } = Object(input) as { items?: unknown };
  return type === "subscription" && /(^|\.)watch$/.test(path) && Array.isArray(items);
}

function offlineError(): TRPCClientError<AnyTRPCRouter> {
  return TRPCClientError.from(new Error("The devtools keep this page offline"));
}
