/** An observer that reaches the handler of `createRateLimitHandler`. */
import { createRateLimitObserver as createObserver } from "../observer.js";
import type { RateLimitObserver, RateLimitObserverOptions, RateLimitTransport } from "../types.js";
import { createFetchTransport } from "./create-fetch-transport.js";
import type { AnyLimits, LimitNameOf, WithLimits } from "./limit-names.js";
import type { FetchTransportOptions } from "./types.js";

/** The options of `createRateLimitObserver`: a URL, or a transport. */
export type UrlObserverOptions<TName extends string = string> = Omit<
  RateLimitObserverOptions,
  "transport"
> &
  (
    | (FetchTransportOptions & {
        /** Only without a `url`. */
        transport?: undefined;
      })
    | {
        /** How the server is reached, such as by `shareStream`. */
        transport: RateLimitTransport<TName>;
        /** Only without a `transport`. */
        url?: undefined;
      }
  );

/**
 * Follows limits without a framework: reads them from the handler of `createRateLimitHandler`, predicts
 * what the server would answer, and calls `onChange` when that changes. Create one per page. Call `close`
 * at the end.
 *
 * @typeParam TLimiter the server's limiter or handler, whose type has the names. @default any names
 *
 * @example
 * import { createRateLimitObserver } from "trpc-rate-limit/fetch";
 *
 * const observer = createRateLimitObserver<typeof limiter>({ url: "/api/limits" });
 * const item = { name: "sendMessage" } as const;
 * const stop = observer.observe(item, 1, () => console.log(observer.status(item, 1)));
 */
export function createRateLimitObserver<TLimiter extends WithLimits = AnyLimits>(
  options: UrlObserverOptions<LimitNameOf<TLimiter>>,
): RateLimitObserver<LimitNameOf<TLimiter>> {
  const transport = options.transport ?? createFetchTransport<TLimiter>(options);
  return createObserver({ ...options, transport });
}
