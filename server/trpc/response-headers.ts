/** Rate limits in the header fields of tRPC's responses, for clients without tRPC. */
import type { TRPCError } from "@trpc/server";
import { isRateLimitError } from "../../core/errors.js";
import {
  factsOfDenial,
  isStricter,
  type LimitFacts,
  limitFields,
  longestOf,
  waitField,
} from "../http/header-fields.js";
import { type RateLimitHeadersOptions, validateXRateLimit, xFields } from "../http/x-rate-limit.js";
import { decisionsOf } from "./decisions-of-call.js";
import { concealedWait, toTRPCError } from "./errors.js";

/** The arguments of `responseMeta` that are used here. */
export interface RateLimitResponseMetaOptions {
  /** The calls of the request. */
  info: { readonly calls: readonly { getRawInput: () => Promise<unknown> }[] } | undefined;
  /** The errors of the calls that failed. */
  errors: readonly TRPCError[];
  /** Whether headers are sent before any call is decided, as for streams. */
  eagerGeneration?: boolean;
}

/**
 * For `responseMeta` of an adapter:
 *
 * - `Retry-After`: whole seconds, rounded up, when calls of the request were denied; in a batch, the
 *   longest wait. No field where no wait helps;
 * - `RateLimit-Policy`: per limit that was charged, `q` tokens in `w` seconds;
 * - `RateLimit`: per limit, `r` whole tokens left, and `t` seconds until the denied call would pass, or
 *   else until the limit is full again or its window ends. If several limits denied a call, each of these
 *   limits is listed.
 *
 * A batch stream and a subscription get no fields: their headers are sent before their calls run.
 *
 * @param options for more fields: `responseMeta: (of) => rateLimitResponseMeta(of, { xRateLimit: "epoch" })`.
 *
 * @example
 * import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
 * import { rateLimitResponseMeta } from "trpc-rate-limit/trpc";
 *
 * const handler = (req: Request) =>
 *   fetchRequestHandler({
 *     endpoint: "/trpc",
 *     req,
 *     router: appRouter,
 *     createContext: () => ({ userId }),
 *     responseMeta: rateLimitResponseMeta,
 *   });
 */
export function rateLimitResponseMeta(
  { info, errors, eagerGeneration = false }: RateLimitResponseMetaOptions,
  options: RateLimitHeadersOptions = {},
): { headers?: Headers } {
  validateXRateLimit(options);
  if (eagerGeneration) return {};
  const byName = new Map<string, LimitFacts>();
  const add = (fact: LimitFacts) => {
    const known = byName.get(fact.name);
    if (known === undefined || isStricter(fact, known)) byName.set(fact.name, fact);
  };
  for (const { getRawInput } of info?.calls ?? []) decisionsOf(getRawInput).forEach(add);
  for (const error of errors) {
    const made = toTRPCError(error.cause ?? error);
    const denied = isRateLimitError(made) ? made : error;
    if (isRateLimitError(denied)) factsOfDenial(denied.data.rateLimit).forEach(add);
  }
  const facts = [...byName.values()];
  const waits = facts.map(({ retryAfter = 0 }) => retryAfter);
  const longest = longestOf([...waits, ...errors.map(concealedWait)]);
  if (facts.length === 0 && longest === 0) return {};
  return {
    headers: new Headers({
      ...(longest > 0 && waitField(longest)),
      ...limitFields(facts),
      ...xFields(facts, options),
    }),
  };
}
