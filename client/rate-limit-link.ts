/**
 * A tRPC link that debits the observers of its client for each call, and learns from denials. The link
 * notifies the observers before the caller gets the error. It can keep calls from being sent that are
 * known to be denied.
 */
import { type Operation, TRPCClientError, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { denialMessage, type DenialMessage, type RateLimitErrorData } from "../core/errors.js";
import type { ProcedurePath, RouterLimitName } from "./limit-names.js";
import { createLimitedCalls, type LimitedCallsOptions } from "./limited-calls.js";
import { OBSERVERS } from "./observers-key.js";
import { observersOf } from "./transport.js";
import type { LinkedLimit } from "./types.js";

/** The options of `rateLimitLink`. */
export interface RateLimitLinkOptions<
  TRouter extends AnyTRPCRouter = AnyTRPCRouter,
> extends LimitedCallsOptions {
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
   * The message of the error of a call that is not sent. Errors of other calls have the server's message.
   * @default 'Rate limit "sendMessage" exceeded. Try again in 6 seconds', as the server's
   */
  denialMessage?: DenialMessage | undefined;
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
  const { limits = {}, denialMessage: say = denialMessage } = options;
  const byPath = limits as Readonly<Record<string, ChargedLimit<TRouter> | null>>;

  return (runtime) => {
    const takeCall = createLimitedCalls(observersOf(runtime), options);

    return ({ op, next }) =>
      observable((observer) =>
        takeCall(
          op,
          typeof limits === "function" ? limits(op) : byPath[op.path],
          (op.context as { [OBSERVERS]?: true })[OBSERVERS],
          (settle) => {
            try {
              const sent = next(op).subscribe({
                next(value) {
                  // The states of a subscription's connection come before its answer.
                  if (value.result.type !== "state") settle();
                  observer.next(value);
                },
                error(error) {
                  settle(error);
                  observer.error(error);
                },
                complete: () => observer.complete(),
              });
              return () => {
                sent.unsubscribe();
                // An aborted call has no answer.
                settle(op);
              };
            } catch (error) {
              // An error that is thrown out of a timer would not reach the caller.
              settle(error);
              observer.error(TRPCClientError.from(error as Error));
              return undefined;
            }
          },
          (data) => observer.error(denialError(op, data, say)),
          (reason) => observer.error(TRPCClientError.from(reason as Error)),
        ),
      );
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
