/**
 * Sees the calls of a client by two links of its own: one link ahead of all others, and one link before
 * the link that sends. A call that is between the two waits in the page.
 */
import {
  type Operation,
  type OperationLink,
  type OperationResultObservable,
  type OperationResultObserver,
  TRPCClientError,
  type TRPCUntypedClient,
} from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { OBSERVERS } from "../observers-key.js";
import type { Call, Calls } from "./calls.js";
import type { Outcomes } from "./outcomes.js";

type Link = OperationLink<AnyTRPCRouter>;
type Sent = OperationResultObservable<AnyTRPCRouter, unknown>;

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
  const shared: Shared = { calls, outcomes, network, open: new Map() };
  (links as Link[]).splice(links.length - 1, 0, lastLink(shared));
  (links as Link[]).unshift(firstLink(shared));
  return true;
}

/** The state that the two links of a client share. */
interface Shared {
  calls: Calls;
  outcomes: Outcomes;
  network: Network;
  /** The calls that are on their way, by the id of their operation. */
  open: Map<number, Call>;
}

function firstLink(shared: Shared): Link {
  return ({ op, next }) => {
    // The stream stays, because it may serve other tabs, too. Observers that are offline do not listen.
    if (isWatch(op)) return next(op);
    return observable((observer) => {
      const passage = new Passage(op, observer, shared);
      passage.start(next);
      return () => passage.abort();
    });
  };
}

function lastLink({ calls, open }: Shared): Link {
  return ({ op, next }) =>
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
}

/** One operation on its way through the links, until it is answered, fails or is aborted. */
class Passage {
  readonly #op: Operation;
  readonly #observer: OperationResultObserver<AnyTRPCRouter, unknown>;
  readonly #shared: Shared;
  /** `undefined` for a question of an observer: such a call takes no tokens. */
  readonly #call: Call | undefined;
  readonly #forget: () => void;
  #stop = () => {};
  #isOver = false;

  constructor(
    op: Operation,
    observer: OperationResultObserver<AnyTRPCRouter, unknown>,
    shared: Shared,
  ) {
    this.#op = op;
    this.#observer = observer;
    this.#shared = shared;
    const { [OBSERVERS]: isQuestion } = op.context as { [OBSERVERS]?: true };
    this.#call = isQuestion ? undefined : shared.calls.begin(op.path, op.type === "mutation");
    if (this.#call) shared.open.set(op.id, this.#call);
    this.#forget = shared.network.onLost(() => {
      this.#stop();
      this.#fail(offlineError());
    });
  }

  start(next: (op: Operation) => Sent): void {
    const { calls, outcomes, network } = this.#shared;
    if (network.isOffline()) {
      this.#fail(offlineError());
      return;
    }
    const call = this.#call;
    if (call) calls.within(call, () => this.#send(next));
    else this.#send(next);
    if (call && !this.#isOver) outcomes.waits(call);
  }

  abort(): void {
    this.#end((call) => this.#shared.outcomes.failed(call, undefined));
    this.#stop();
  }

  #send(next: (op: Operation) => Sent): void {
    const observer = this.#observer;
    const sent = next(this.#op).subscribe({
      next: (value) => {
        // A subscription has states and a start before it has an answer.
        const { type = "data" } = value.result;
        if (type === "data") this.#answered();
        observer.next(value);
      },
      error: (error) => this.#fail(error),
      complete: () => {
        this.#end(() => {});
        observer.complete();
      },
    });
    this.#stop = () => sent.unsubscribe();
  }

  #answered(): void {
    const { outcomes } = this.#shared;
    // A subscription goes on after its first answer.
    if (this.#op.type !== "subscription") this.#end((call) => outcomes.answered(call));
    else if (this.#call) outcomes.answered(this.#call);
  }

  #fail(error: TRPCClientError<AnyTRPCRouter>): void {
    this.#end((call) => this.#shared.outcomes.failed(call, error));
    this.#observer.error(error);
  }

  /** Only the first end of a call is reported. */
  #end(report: (call: Call) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forget();
    this.#shared.open.delete(this.#op.id);
    if (this.#call) report(this.#call);
  }
}

/** Whether the operation is the stream of an observer, wherever its router stands. */
function isWatch({ type, path, input }: Operation): boolean {
  const { items } = Object(input) as { items?: unknown };
  return type === "subscription" && /(^|\.)watch$/.test(path) && Array.isArray(items);
}

function offlineError(): TRPCClientError<AnyTRPCRouter> {
  return TRPCClientError.from(new Error("The devtools keep this page offline"));
}
