/**
 * A tRPC link that debits the observers of its client for each call, and learns from denials. The link
 * notifies the observers before the caller gets the error. It can keep calls from being sent that are
 * known to be denied.
 */
import { type Operation, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { SECOND } from "../core/durations.js";
import {
  denialMessage,
  type DenialMessage,
  isRateLimitError,
  type RateLimitErrorData,
} from "../core/errors.js";
import { type CallQueue, createCallQueue, type QueuedCall } from "./call-queue.js";
import { createKnownDenials, type Settle } from "./known-denials.js";
import { idOf } from "./limit-entry.js";
import type { ProcedurePath, RouterLimitName } from "./limit-names.js";
import { OBSERVERS, observersOf } from "./transport.js";
import type { LimitUse, LinkedLimit, WhenLimited } from "./types.js";

/** The options of `rateLimitLink`. */
export interface RateLimitLinkOptions<TRouter extends AnyTRPCRouter = AnyTRPCRouter> {
  /**
   * The limit that a call takes from, by the procedure's path, or as a function of the call: a name,
   * or a {@link LinkedLimit}. Observers are debited for these calls, in any mode of `whenLimited`.
   * `null` says that there is no limit, and the link ignores such calls. Use `null` for procedures that
   * reserve, since predictions are about calls that do not reserve.
   * @default learnt from denials, which name the limit but no key and no count
   */
  limits?:
    | { readonly [TPath in ProcedurePath<TRouter>]?: ChargedLimit<TRouter> | null }
    | ((op: Operation) => ChargedLimit<TRouter> | null | undefined);
  /**
   * How to treat a call that the server is known to deny, see {@link WhenLimited}.
   * @default "send"
   */
  whenLimited?: WhenLimited;
  /** How long a call waits at most, ms; a call with a longer wait fails at once. @default Infinity */
  maxWait?: number;
  /** The most that a call waits beyond its turn, ms, so that many tabs do not send together. @default 500 */
  jitter?: number;
  /**
   * The message of the error of a call that is not sent. Errors of other calls have the server's message.
   * @default 'Rate limit "sendMessage" exceeded. Try again in 6 seconds', as the server's
   */
  denialMessage?: DenialMessage | undefined;
  /** This machine's time, epoch ms. @default Date.now */
  clock?: () => number;
  /** ms since some fixed instant. @default performance.now, or `clock` where that is given */
  monotonic?: () => number;
}

type ChargedLimit<TRouter extends AnyTRPCRouter> =
  RouterLimitName<TRouter> | LinkedLimit<RouterLimitName<TRouter>>;

/**
 * Put this link before the links that send. The link does not change calls that are sent.
 *
 * @example
 * import { createTRPCClient, httpBatchLink } from "@trpc/client";
 * import { rateLimitLink } from "trpc-rate-limit/client";
 *
 * const client = createTRPCClient<AppRouter>({
 *   links: [
 *     rateLimitLink({ limits: { send: "sendMessage" }, whenLimited: "wait" }),
 *     httpBatchLink({ url: "/trpc" }),
 *   ],
 * });
 */
export function rateLimitLink<TRouter extends AnyTRPCRouter>(
  options: RateLimitLinkOptions<TRouter> = {},
): TRPCLink<TRouter> {
  const { limits = {}, whenLimited = "send", maxWait = Infinity, jitter = 500 } = options;
  const { clock = () => Date.now(), denialMessage: say = denialMessage } = options;
  const { monotonic = options.clock ?? (() => performance.now()) } = options;

  function declared(op: Operation): LinkedLimit | null | undefined {
    const byPath = limits as Readonly<Record<string, ChargedLimit<TRouter> | null>>;
    const use = typeof limits === "function" ? limits(op) : byPath[op.path];
    return typeof use === "string" ? { name: use } : use;
  }

  return (runtime) => {
    const known = createKnownDenials(observersOf(runtime), clock, monotonic);
    /** By path, for procedures that `limits` does not declare. */
    const learnt = new Map<string, LimitUse>();
    /** By limit and key. */
    const queues = new Map<string, CallQueue>();

    return ({ op, next }) =>
      observable((observer) => {
        const given = declared(op);
        const use = given === undefined ? learnt.get(op.path) : given;
        const denial = () => (use ? known.find(use, given === undefined) : undefined);
        let stop = () => {};

        function reject(data: RateLimitErrorData): void {
          observer.error(denialError(op, data, say));
        }

        function send(settle: Settle = () => {}): void {
          try {
            const sent = next(op).subscribe({
              next(value) {
                // The states of a subscription's connection come before its answer.
                if (value.result.type !== "state") settle();
                observer.next(value);
              },
              error(error) {
                if (given !== null && isRateLimitError(error)) {
                  const { rateLimit }: { rateLimit: RateLimitErrorData } = error.data;
                  const charged = given ?? { name: rateLimit.name };
                  if (given === undefined) learnt.set(op.path, charged);
                  known.learn(charged, rateLimit);
                }
                settle(error);
                observer.error(error);
              },
              complete: () => observer.complete(),
            });
            stop = () => {
              sent.unsubscribe();
              // An aborted call has no answer.
              settle(op);
            };
          } catch (error) {
            // An error that is thrown out of a timer would not reach the caller.
            settle(error);
            observer.error(TRPCClientError.from(error as Error));
          }
        }

        function hold(held: LimitUse): void {
          const { signal } = op;
          const deadline = monotonic() + maxWait;
          const extra = Math.random() * jitter;
          let startAt = 0;
          let isGone = false;
          const id = idOf(held);
          const queue = queues.get(id) ?? createCallQueue();
          queues.set(id, queue);
          const abort = () => observer.error(TRPCClientError.from(signal?.reason as Error));
          const unlisten = () => signal?.removeEventListener("abort", abort);
          stop = () => {
            unlisten();
            isGone = true;
            queue.advance(call);
          };
          signal?.addEventListener("abort", abort);

          function start(): void {
            unlisten();
            send(known.recordSend(held));
          }

          const call: QueuedCall = {
            ticket: 0,
            next(isFirst) {
              if (isGone) return unlisten;
              const [now, data] = [monotonic(), denial()];
              const availableAt = now + (data?.retryAfter ?? 0);
              if (data && availableAt > deadline) return () => reject(data);
              if (!isFirst) return undefined;
              // A call that was never denied starts at once. A limit that is available early is so for
              // every tab, so the jitter stays.
              startAt = data
                ? Math.min(availableAt + extra, deadline)
                : Math.min(startAt, now + extra);
              // Ask again every second: limits are reset, and a timer sleeps when the machine does.
              return startAt > now ? Math.min(startAt - now, SECOND) : start;
            },
          };
          queue.enqueue(call);
        }

        const isDebited = !!use && known.claimDebit(use);

        function sendNow(): void {
          // An observer's own question takes no tokens. A debit for it would lead to another question.
          const { [OBSERVERS]: isQuestion } = op.context as { [OBSERVERS]?: true };
          const debits = given && !isDebited && !isQuestion;
          send(debits ? known.debit(given) : undefined);
        }

        if (!use || whenLimited === "send" || op.signal?.aborted || isDebited) sendNow();
        else {
          const data = denial();
          if (data && whenLimited === "reject") reject(data);
          else if (whenLimited === "wait" && (data || queues.get(idOf(use))?.length())) hold(use);
          else sendNow();
        }
        return () => stop();
      });
  };
}

/** The error that the server would have answered with. */
function denialError<TRouter extends AnyTRPCRouter>(
  { path }: Operation,
  rateLimit: RateLimitErrorData,
  say: DenialMessage,
): TRPCClientError<TRouter> {
  const message = say(rateLimit);
  const data = { code: "TOO_MANY_REQUESTS", httpStatus: 429, path, rateLimit };
  const result = { error: { code: -32029, message, data } };
  // The answer itself goes with the error. In CommonJS code, the client has another copy of this class.
  // That copy makes an error of its own from the answer, and loses the facts of any other error.
  return Object.assign(new TRPCClientError<TRouter>(message, { result }), result);
}
