/**
 * Rate limits in HTTP header fields: `Retry-After` of RFC 9110, and `RateLimit` and
 * `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11, which are lists of RFC 9651.
 */
import { capacityOf, type FixedWindowConfig, type RateLimitConfig } from "../../core/config.js";
import { denialsOf, isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";
import { windowAfter, windowAt } from "../../core/windows.js";

/** What a response says about one limit. */
export interface LimitFacts {
  name: string;
  /** With `start` filled in. */
  config: RateLimitConfig;
  /** Tokens left at `now`. */
  value: number;
  /** Epoch ms. */
  now: number;
  /** ms until the call would pass; only of denials. */
  retryAfter?: number;
}

/** What a response says about a denial: one entry per limit that denied the call. */
export function factsOfDenial({ kind, now, ...data }: RateLimitErrorData): LimitFacts[] {
  return denialsOf({ kind, now, ...data })
    .map((denial) => ({ ...denial, kind, now }))
    .filter((rateLimit) => isRateLimitError({ data: { rateLimit } }));
}

/** The largest integer in a structured field. */
const MAX_INTEGER = 999_999_999_999_999;

/**
 * - `RateLimit-Policy`: per limit, `q` tokens in `w` seconds;
 * - `RateLimit`: per limit, `r` whole tokens left, and `t` seconds until the denied call would
 *   pass, or else until the limit is full again or its window ends.
 */
export function limitFields(facts: readonly LimitFacts[]): Record<string, string> {
  const list = (parametersOf: (fact: LimitFacts) => string) =>
    facts.map((fact) => `${quoted(fact.name)};${parametersOf(fact)}`).join(", ");
  return { "RateLimit-Policy": list(policyOf), RateLimit: list(stateOf) };
}

/** `Retry-After`: whole seconds, rounded up. */
export function waitField(ms: number): Record<string, string> {
  return { "Retry-After": `${seconds(ms)}` };
}

function policyOf(fact: LimitFacts): string {
  const { rate } = fact.config;
  const period = periodOf(fact);
  const w = seconds(period);
  // A window has whole seconds. For another period, `q` counts the tokens of the rounded window.
  return `q=${integer((rate * w * 1000) / period)};w=${integer(w)}`;
}

function stateOf(fact: LimitFacts): string {
  const { value, retryAfter } = fact;
  return `r=${integer(Math.max(0, value))};t=${integer(seconds(retryAfter ?? untilFull(fact)))}`;
}

/** ms until a token bucket is full, or a fixed window ends. */
function untilFull(fact: LimitFacts): number {
  const { config, value, now } = fact;
  return config.kind === "token bucket"
    ? ((capacityOf(config) - value) / config.rate) * config.period
    : windowOf(fact, config).end - now;
}

/** The length of the period, ms; that of a month is the length of the present one. */
function periodOf(fact: LimitFacts): number {
  const { config } = fact;
  if (config.kind === "token bucket") return config.period;
  const { start, end } = windowOf(fact, config);
  return end - start;
}

function windowOf({ now }: LimitFacts, config: FixedWindowConfig) {
  const start = windowAt(config, now);
  return { start, end: windowAfter(config, start, 1) };
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
