/**
 * A tRPC link that learns from refusals: it tells the observers of its client before the caller
 * hears of one, and can keep calls that are known to be refused from being sent.
 */
import { type Operation, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { isRateLimitError, type RateLimitErrorData } from "../core/errors.js";
import { createCallQueue } from "./call-queue.js";
import { observersOf } from "./client-observers.js";
import { createKnownRefusals, type LimitUse } from "./known-refusals.js";
import type { ProcedurePath, RouterLimitName } from "./router-names.js";

export interface RateLimitLinkOptions<TRouter extends AnyTRPCRouter = AnyTRPCRouter> {
  /**
   * Which limit a call takes from, by the procedure's path, or as a function of the call: a name,
   * or name, `key` and `count`. `null` is none: the link then keeps out of the call altogether. Say
   * so of procedures that reserve, since what is known is about calls that do not.
   * @default learnt from refusals, which name the limit but no key
   */
  limits?:
    | { readonly [TPath in ProcedurePath<TRouter>]?: ChargedLimit<TRouter> | null }
    | ((op: Operation) => ChargedLimit<TRouter> | null | undefined);
  /**
   * What becomes of a call that is known to be refused.
   *
   * - `"send"`: it is sent, and the server decides.
   * - `"fail"`: it fails at once with the error that the server would answer with.
   * - `"wait"`: it is sent when its limit opens, in order of arrival.
   * @default "send"
   */
  whenRefused?: "send" | "fail" | "wait";
  /** How long a call waits at most, ms; one that would have to wait longer fails at once. @default Infinity */
  maxWait?: number;
  /** The most that a call waits beyond its turn, ms, so that many tabs do not go together. @default 500 */
  jitter?: number;
  /** This machine's time, epoch ms. @default Date.now */
  clock?: () => number;
  /** ms since some fixed instant. @default performance.now, or `clock` where that is given */
  monotonic?: () => number;
}

type ChargedLimit<TRouter extends AnyTRPCRouter> =
  RouterLimitName<TRouter> | (LimitUse & { name: RouterLimitName<TRouter> });

/** Put it before the links that send. A call that is sent behaves as without it. */
export function rateLimitLink<TRouter extends AnyTRPCRouter>(
  options: RateLimitLinkOptions<TRouter> = {},
): TRPCLink<TRouter> {
  const { limits = {}, whenRefused = "send", maxWait = Infinity, jitter = 500 } = options;
  const { clock = () => Date.now() } = options;
  const { monotonic = options.clock ?? (() => performance.now()) } = options;

  function declared(op: Operation): LimitUse | null | undefined {
    const byPath = limits as Readonly<Record<string, ChargedLimit<TRouter> | null>>;
    const use = typeof limits === "function" ? limits(op) : byPath[op.path];
    return typeof use === "string" ? { name: use } : use;
  }

  return (runtime) => {
    const known = createKnownRefusals(observersOf(runtime), clock, monotonic);
    const queue = createCallQueue(known, monotonic, maxWait, jitter);
    /** By path, for procedures that nobody has declared. */
    const learnt = new Map<string, LimitUse>();

    return ({ op, next }) =>
      observable((observer) => {
        const given = declared(op);
        const use = given === undefined ? learnt.get(op.path) : given;
        const refusal = () => (use ? known.find(use, given === undefined) : undefined);
        let stop = () => {};

        function fail(data: RateLimitErrorData): void {
          observer.error(refusedLocally(op, data));
        }

        function send(answered = () => {}): void {
          const sent = next(op).subscribe({
            next(value) {
              answered();
              observer.next(value);
            },
            error(error) {
              if (given !== null && isRateLimitError(error)) {
                const { rateLimit }: { rateLimit: RateLimitErrorData } = error.data;
                const charged = given?.name === rateLimit.name ? given : { name: rateLimit.name };
                if (given === undefined) learnt.set(op.path, charged);
                known.learn(charged, rateLimit);
              }
              // Whether it was charged, only the server knows, and no news come of what was not.
              answered();
              observer.error(error);
            },
            complete: () => observer.complete(),
          });
          stop = () => sent.unsubscribe();
        }

        function hold(held: LimitUse): void {
          const { signal } = op;
          let leave = () => {};
          const abort = () => observer.error(TRPCClientError.from(signal?.reason as Error));
          const done = () => signal?.removeEventListener("abort", abort);
          stop = () => {
            done();
            leave();
          };
          signal?.addEventListener("abort", abort);
          leave = queue.hold({
            use: held,
            refusal,
            fail,
            send(answered) {
              done();
              try {
                send(answered);
              } catch (error) {
                // Out of a timer, it would reach nobody who waits for the call.
                answered();
                observer.error(TRPCClientError.from(error as Error));
              }
            },
          });
        }

        if (!use || whenRefused === "send" || op.signal?.aborted || known.isDebited(use)) send();
        else {
          const data = refusal();
          if (data && whenRefused === "fail") fail(data);
          else if (whenRefused === "wait" && (data || queue.has(use))) hold(use);
          else send();
        }
        return () => stop();
      });
  };
}

/** What the server would have answered with. */
function refusedLocally<TRouter extends AnyTRPCRouter>(
  { path }: Operation,
  rateLimit: RateLimitErrorData,
): TRPCClientError<TRouter> {
  const { name, retryAfter } = rateLimit;
  const message = `Rate limit "${name}" exceeded; retry after ${retryAfter} ms`;
  const data = { code: "TOO_MANY_REQUESTS", httpStatus: 429, path, rateLimit };
  const result = { error: { code: -32029, message, data } };
  return new TRPCClientError<TRouter>(message, { result });
}
