/**
 * Decides whether a call is sent now, held or rejected, and debits the observers for calls that are sent.
 * `rateLimitLink` and `rateLimitFetch` share this code. Each says how it sends, and how it rejects.
 */
import { SECOND } from "../core/durations.js";
import { isRateLimitError, type RateLimitErrorData } from "../core/errors.js";
import { type CallQueue, createCallQueue, type QueuedCall } from "./call-queue.js";
import { createKnownDenials, type Settle } from "./known-denials.js";
import { idOf } from "./limit-entry.js";
import type { LimitUse, LinkedLimit, RateLimitObserver, WhenLimited } from "./types.js";

/** The options that `rateLimitLink` and `rateLimitFetch` share. */
export interface LimitedCallsOptions {
  /**
   * How to treat a call that the server is known to deny, see {@link WhenLimited}.
   * @default "send"
   */
  whenLimited?: WhenLimited;
  /** How long a call waits at most, ms; a call with a longer wait fails at once. @default Infinity */
  maxWait?: number;
  /** The most that a call waits beyond its turn, ms, so that many tabs do not send together. @default 500 */
  jitter?: number;
  /** This machine's time, epoch ms. @default Date.now */
  clock?: () => number;
  /** ms since some fixed instant. @default performance.now, or `clock` where that is given */
  monotonic?: () => number;
}

export interface LimitedCall {
  /** The path of the procedure, or of the request. Calls of one path have the same limit. */
  readonly path: string;
  readonly signal: AbortSignal | null | undefined;
}

/**
 * Takes a call.
 *
 * @param limit the declared limit. `null`: none. `undefined`: learnt from denials of the same path.
 * @param isQuestion whether it is an observer's own question, which takes no tokens.
 * @param sendCall sends the call, and calls `settle` with its outcome. Returns a function for when the
 * caller leaves.
 * @param reject rejects the call without sending it.
 * @param abort rejects a call that was held when its signal was aborted.
 * @returns a function for when the caller leaves.
 */
export type TakeCall = (
  call: LimitedCall,
  limit: string | LinkedLimit | null | undefined,
  isQuestion: boolean | undefined,
  sendCall: (settle: Settle) => (() => void) | undefined,
  reject: (data: RateLimitErrorData) => void,
  abort: (reason: unknown) => void,
) => () => void;

export function createLimitedCalls(
  observers: ReadonlySet<RateLimitObserver>,
  options: LimitedCallsOptions,
): TakeCall {
  const { whenLimited = "send", maxWait = Infinity, jitter = 500 } = options;
  const { clock = () => Date.now() } = options;
  const { monotonic = options.clock ?? (() => performance.now()) } = options;
  const known = createKnownDenials(observers, clock, monotonic);
  /** By path, for calls without a declared limit. */
  const learnt = new Map<string, LimitUse>();
  /** By limit and key. */
  const queues = new Map<string, CallQueue>();

  return ({ path, signal }, limit, isQuestion, sendCall, reject, abort) => {
    const given = typeof limit === "string" ? { name: limit } : limit;
    const use = given === undefined ? learnt.get(path) : given;
    const denial = () => (use ? known.find(use, given === undefined) : undefined);
    let leave: (() => void) | undefined;

    function send(settle: Settle = () => {}): void {
      leave = sendCall((error) => {
        if (given !== null && isRateLimitError(error)) {
          const { rateLimit } = error.data;
          const charged = given ?? { name: rateLimit.name };
          if (!given) learnt.set(path, charged);
          known.learn(charged, rateLimit);
        }
        settle(error);
      });
    }

    function hold(held: LimitUse): void {
      const deadline = monotonic() + maxWait;
      const extra = Math.random() * jitter;
      let startAt = 0;
      let isGone = false;
      const id = idOf(held);
      const queue = queues.get(id) ?? createCallQueue();
      queues.set(id, queue);
      const onAbort = () => {
        leave?.();
        abort(signal?.reason);
      };
      const unlisten = () => signal?.removeEventListener("abort", onAbort);
      leave = () => {
        unlisten();
        isGone = true;
        queue.advance(place);
      };
      signal?.addEventListener("abort", onAbort);

      const start = () => {
        unlisten();
        send(known.recordSend(held));
      };

      const place: QueuedCall = {
        ticket: 0,
        next(isFirst) {
          if (isGone) return unlisten;
          const [now, data] = [monotonic(), denial()];
          const availableAt = now + (data?.retryAfter ?? 0);
          if (data && availableAt > deadline) return () => reject(data);
          if (!isFirst) return undefined;
          // A call that was never denied starts at once. A limit that is available early is so for
          // every tab, so the jitter stays.
          startAt = data ? Math.min(availableAt + extra, deadline) : Math.min(startAt, now + extra);
          // Ask again every second: limits are reset, and a timer sleeps when the machine does.
          return startAt > now ? Math.min(startAt - now, SECOND) : start;
        },
      };
      queue.enqueue(place);
    }

    const isDebited = !!use && known.claimDebit(use);

    function sendNow(): void {
      // A debit for an observer's own question would lead to another question.
      send(given && !isDebited && !isQuestion ? known.debit(given) : undefined);
    }

    if (!use || whenLimited === "send" || signal?.aborted || isDebited) sendNow();
    else {
      const data = denial();
      if (data && whenLimited === "reject") reject(data);
      else if (whenLimited === "wait" && (data || queues.get(idOf(use))?.length())) hold(use);
      else sendNow();
    }
    return () => leave?.();
  };
}
