/**
 * Rate limits in HTTP header fields, for clients without tRPC: `Retry-After` of RFC 9110, and
 * `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11, which are lists of
 * RFC 9651.
 */
import type { TRPCError } from "@trpc/server";
import { initialState } from "../../core/calculate.js";
import { capacityOf } from "../../core/config.js";
import { isRateLimitError } from "../../core/errors.js";
import { withStart } from "../../core/phase.js";
import { decisionsOf, type NotedDecision } from "./decisions-of-call.js";
import { concealedWait, toTRPCError } from "./errors.js";

/** The arguments of `responseMeta` that are used here. */
export interface RateLimitResponseMetaOptions {
  info: { readonly calls: readonly { getRawInput: () => Promise<unknown> }[] } | undefined;
  errors: readonly TRPCError[];
  /** Whether headers are sent before any call is decided, as for streams. */
  eagerGeneration?: boolean;
}

interface Fact extends NotedDecision {
  /** ms; only of denials. */
  retryAfter?: number;
}

/** The largest integer in a structured field. */
const MAX_INTEGER = 999_999_999_999_999;

/**
 * For `responseMeta` of an adapter:
 *
 * - `Retry-After`: whole seconds, rounded up, when calls of the request were denied; in a batch,
 *   the longest wait;
 * - `RateLimit-Policy`: per limit that was charged, `q` tokens in `w` seconds;
 * - `RateLimit`: per limit, `r` whole tokens left, and `t` seconds until the denied call would
 *   pass, or else until the limit is full again or its window ends.
 *
 * A batch stream and a subscription get none: they send their headers before their calls run.
 */
export function rateLimitResponseMeta({
  info,
  errors,
  eagerGeneration = false,
}: RateLimitResponseMetaOptions): { headers?: Headers } {
  if (eagerGeneration) return {};
  const facts = new Map<string, Fact>();
  const add = (fact: Fact) => {
    const known = facts.get(fact.name);
    if (known === undefined || isStricter(fact, known)) facts.set(fact.name, fact);
  };
  for (const { getRawInput } of info?.calls ?? []) decisionsOf(getRawInput).forEach(add);
  for (const error of errors) {
    const made = toTRPCError(error.cause ?? error);
    const denied = isRateLimitError(made) ? made : error;
    if (isRateLimitError(denied)) add(denied.data.rateLimit);
  }
  const waits = [...facts.values()].map(({ retryAfter = 0 }) => retryAfter);
  const longest = Math.max(0, ...waits, ...errors.map(concealedWait));
  if (facts.size === 0 && longest === 0) return {};
  const headers = new Headers();
  if (longest > 0) headers.set("Retry-After", `${seconds(longest)}`);
  if (facts.size === 0) return { headers };
  const list = (parameters: (fact: Fact) => string) =>
    [...facts.values()].map((fact) => `${quoted(fact.name)};${parameters(fact)}`).join(", ");
  headers.set("RateLimit-Policy", list(policyOf));
  headers.set("RateLimit", list(stateOf));
  return { headers };
}

/** Of several decisions about one limit, the response reports the one with the longest wait. */
function isStricter(a: Fact, b: Fact): boolean {
  const [waitA, waitB] = [a.retryAfter ?? 0, b.retryAfter ?? 0];
  return waitA === waitB ? a.value < b.value : waitA > waitB;
}

function policyOf({ config: { rate, period } }: Fact): string {
  const w = seconds(period);
  // A window has whole seconds. For another period, `q` counts the tokens of the rounded window.
  return `q=${integer((rate * w * 1000) / period)};w=${integer(w)}`;
}

function stateOf(fact: Fact): string {
  const { value, retryAfter } = fact;
  return `r=${integer(Math.max(0, value))};t=${integer(seconds(retryAfter ?? untilFull(fact)))}`;
}

/** ms until a token bucket is full, or a fixed window ends. */
function untilFull({ name, key, config, value, now }: Fact): number {
  const { rate, period } = config;
  if (config.kind === "token bucket") {
    return ((capacityOf(config) - value) / rate) * period;
  }
  return initialState(withStart(config, name, key), now).ts + period - now;
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

function integer(value: number): number {
  return Math.min(MAX_INTEGER, Math.floor(value));
}

/** A string of RFC 9651. It is ASCII, so other characters are encoded as in a URL. */
function quoted(text: string): string {
  const ascii = text.replace(/[^ -~]+/gu, (part) => encodeURIComponent(part));
  return `"${ascii.replace(/["\\]/g, "\\$&")}"`;
}
