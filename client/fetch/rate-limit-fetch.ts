/**
 * A fetch that debits the observers of a handler for each request, and learns from denials. It notifies
 * the observers before the caller gets the answer. It can keep requests from being sent that are known to
 * be denied.
 */
import { denialOf } from "../../core/denial-of.js";
import type { RateLimitErrorData } from "../../core/errors.js";
import { createLimitedCalls, type LimitedCallsOptions } from "../limited-calls.js";
import type { LinkedLimit, RateLimitObserver } from "../types.js";
import { denialOfFields } from "./denial-of-fields.js";
import type { AnyLimits, LimitNameOf, WithLimits } from "./limit-names.js";
import { addressOf, observersOfUrl } from "./observers-of-url.js";

/** A request that is about to be sent. */
export interface LimitedRequest {
  /** Such as `"POST"`. */
  method: string;
  /** The whole address. */
  url: URL;
}

/** The limit that a request takes from. */
export type RequestLimit<TName extends string> = TName | LinkedLimit<TName> | null | undefined;

/** The options of `rateLimitFetch`. */
export interface RateLimitFetchOptions<TName extends string = string> extends LimitedCallsOptions {
  /** The URL of the handler of `createRateLimitHandler`, as the observers have it. */
  url: string;
  /**
   * The limit that a request takes from, by method and path, such as `"POST /api/messages"`, or as a
   * function of the request: a name, or a {@link LinkedLimit}. Observers are debited for these requests,
   * in any mode of `whenLimited`. `null` says that there is no limit. Use `null` for requests that
   * reserve, since predictions are about calls that do not reserve.
   * @default learnt from denials, which name the limit but no key and no count
   */
  limits?:
    | { readonly [request: string]: RequestLimit<TName> }
    | ((request: LimitedRequest) => RequestLimit<TName>);
}

/**
 * Wraps `fetch`. Requests that are sent are not changed. With `whenLimited: "reject"`, a request that is
 * known to be denied resolves with the `Response` that the server would give: 429 with the facts as JSON
 * and `Retry-After`. A request that is held is aborted by its signal.
 *
 * An answer of 429 is read from its JSON, as `rateLimitResponse` gives it, or else from `RateLimit` or
 * `Retry-After`. Those fields are read only where `limits` names the limit, and an observer follows it. Other
 * origins have to expose them.
 *
 * @typeParam TLimiter the server's limiter or handler, whose type has the names. @default any names
 *
 * @example
 * import { rateLimitFetch } from "trpc-rate-limit/fetch";
 *
 * const limitedFetch = rateLimitFetch<typeof limiter>(fetch, {
 *   url: "/api/limits",
 *   limits: { "POST /api/messages": "sendMessage" },
 *   whenLimited: "wait",
 * });
 * const response = await limitedFetch("/api/messages", { method: "POST", body: "hello" });
 */
export function rateLimitFetch<TLimiter extends WithLimits = AnyLimits>(
  fetch: typeof globalThis.fetch,
  options: RateLimitFetchOptions<LimitNameOf<TLimiter>>,
): typeof globalThis.fetch {
  const { url, limits = {}, clock = () => Date.now() } = options;
  const observers = observersOfUrl(url);
  const takeCall = createLimitedCalls(observers, options);

  function limitOf(request: LimitedRequest, path: string): RequestLimit<string> {
    // An observer's own question takes no tokens.
    const { origin, pathname } = addressOf(url);
    if (request.url.origin === origin && request.url.pathname === pathname) return null;
    return typeof limits === "function" ? limits(request) : limits[path];
  }

  return (input, init) =>
    new Promise<Response>((resolve, reject) => {
      const given = Object(input) as Partial<Request>;
      const { method = given.method ?? "GET", signal = given.signal } = init ?? {};
      const request = {
        method: method.toUpperCase(),
        url: addressOf(given.url ?? (input as string | URL).toString()),
      };
      const path = `${request.method} ${request.url.pathname}`;
      const limit = limitOf(request, path);
      const use = typeof limit === "string" ? { name: limit } : limit;
      takeCall(
        { path, signal },
        use,
        false,
        (settle) => {
          void (async () => {
            try {
              // A fetch of the application may throw at once.
              const response = await fetch(input, init);
              settle(await errorOf(response, use, observers, clock()));
              resolve(response);
            } catch (error) {
              // There was no answer: most likely nothing was charged.
              settle(error ?? new Error("The request failed"));
              reject(error);
            }
          })();
          return undefined;
        },
        (data) => resolve(responseOf(data)),
        reject,
      );
    });
}

/** The outcome of a call for its limit: `undefined` for a success. An error with `data` is an answer. */
async function errorOf(
  response: Response,
  use: LinkedLimit | null | undefined,
  observers: Iterable<RateLimitObserver>,
  at: number,
): Promise<object | undefined> {
  const { status, headers } = response;
  if (status < 400) return undefined;
  if (status !== 429) return { data: status };
  const rateLimit =
    (await denialIn(response)) ?? (use ? denialOfFields(headers, use, observers, at) : undefined);
  // Without facts, the observers ask.
  return rateLimit ? { data: { rateLimit } } : {};
}

/** The denial in the JSON of an answer. The caller can still read the body. */
async function denialIn(response: Response): Promise<RateLimitErrorData | undefined> {
  if (!response.headers.get("Content-Type")?.includes("json")) return undefined;
  return denialOf(
    await response
      .clone()
      .text()
      .catch(() => undefined),
  );
}

/** The answer that the server would have given. */
function responseOf(data: RateLimitErrorData): Response {
  return new Response(JSON.stringify(data), {
    status: 429,
    headers: {
      "Content-Type": "application/json",
      "Retry-After": String(Math.ceil(data.retryAfter / 1000)),
    },
  });
}
