/**
 * Rate limits in HTTP header fields: `Retry-After` of RFC 9110, and `RateLimit` and
 * `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11, which are lists of RFC 9651.
 */
import { capacityOf, isNever, type ShownConfig } from "../../core/config.js";
import type { FixedWindowConfig } from "../../core/limit-config.js";
import { isCredits } from "../../core/rows/credits.js";
import { denialsOf, isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";
import { isOfZone } from "../../core/with-calendar.js";
import { resetAt } from "../../core/reset-at.js";
import { windowAfter, windowAt } from "../../core/windows.js";

/** The facts that a response has about one limit. */
export interface LimitFacts {
  name: string;
  /** The config of the limit, with `start` filled in. */
  config: ShownConfig;
  /** Tokens left at `now`. */
  value: number;
  /** Epoch ms. */
  now: number;
  /** ms until the call would pass; only for a denial. */
  retryAfter?: number;
}

/** The most `denials` of an error that are sent. */
const MAX_DENIALS = 100;

/** The same facts, with at most `MAX_DENIALS` denials. */
export function withFewDenials<TData extends RateLimitErrorData>(data: TData): TData {
  const { denials } = data;
  if (!Array.isArray(denials) || denials.length <= MAX_DENIALS) return data;
  return { ...data, denials: denials.slice(0, MAX_DENIALS) };
}

/** The facts that a response has about a denial: one entry per limit that denied the call. */
export function factsOfDenial(data: RateLimitErrorData): LimitFacts[] {
  const { kind, now } = data;
  return denialsOf(withFewDenials(data))
    .map((denial) => ({ ...denial, kind, now }))
    .filter((rateLimit) => isRateLimitError({ data: { rateLimit } }));
}

/** The largest integer in a structured field. */
const MAX_INTEGER = 999_999_999_999_999;
/** The most characters that one field lists. Proxies reject a response with 4 KB of fields. */
const MAX_LENGTH = 2000;

/**
 * - `RateLimit-Policy`: per limit, `q` tokens in `w` seconds;
 * - `RateLimit`: per limit, `r` whole tokens left, and `t` seconds until the denied call would
 *   pass, or else until the limit is full again or its window ends. Credits have neither `w` nor
 *   `t`, and a denial that no wait ends has no `t`.
 *
 * Both fields list the same limits: the first limits, as many as fit. A limit with invalid numbers, such
 * as in an error of another program, is left out.
 */
export function limitFields(facts: readonly LimitFacts[]): Record<string, string> {
  const policies: string[] = [];
  const states: string[] = [];
  let length = 0;
  for (const fact of facts.filter(isCalculable)) {
    const name = quoted(fact.name);
    const [policy, state] = [`${name};${policyOf(fact)}`, `${name};${stateOf(fact)}`];
    length += Math.max(policy.length, state.length) + SEPARATOR.length;
    if (length > MAX_LENGTH) break;
    policies.push(policy);
    states.push(state);
  }
  if (policies.length === 0) return {};
  return { "RateLimit-Policy": policies.join(SEPARATOR), RateLimit: states.join(SEPARATOR) };
}

const SEPARATOR = ", ";

/** Of several facts, the fact with the longest wait counts, or else the fact with the fewest tokens. */
export function isStricter(a: LimitFacts, b: LimitFacts): boolean {
  const [waitA, waitB] = [a.retryAfter ?? 0, b.retryAfter ?? 0];
  return waitA === waitB ? a.value < b.value : waitA > waitB;
}

/** Whether the fields can be calculated from these numbers. */
export function isCalculable({ value, now, retryAfter = 0, config }: LimitFacts): boolean {
  const { rate, capacity = rate, period } = config;
  const { start = 0 } = config as { start?: number };
  const length = typeof period === "string" ? 1 : period;
  return (
    [value, rate, capacity, length, start, retryAfter].every(Number.isFinite) &&
    length > 0 &&
    Number.isFinite(new Date(now).getTime()) &&
    hasWindowAt(config, now)
  );
}

/**
 * Whether the window of an instant is known. The windows of a time zone are listed, see `shownConfig`.
 */
function hasWindowAt(config: ShownConfig, now: number): boolean {
  const { starts } = config;
  if (config.kind !== "fixed window" || starts === undefined) return !isOfZone(config);
  const isList = Array.isArray(starts) && starts.every(Number.isFinite);
  return isList && windowAfter(config, now, 1) < Infinity;
}

/** The longest of these waits, ms; 0 where there is no finite wait. */
export function longestOf(waits: readonly number[]): number {
  return Math.max(0, ...waits.filter(Number.isFinite));
}

/**
 * `Retry-After`: whole seconds, rounded up. No field where no wait helps: the field would tell the client
 * to come back.
 */
export function waitField(ms: number): Record<string, string> {
  if (isNever(ms)) return {};
  return { "Retry-After": `${integer(seconds(ms))}` };
}

function policyOf(fact: LimitFacts): string {
  const { rate } = fact.config;
  // Both `w` and `t` may be left out.
  if (isCredits(fact.config)) return `q=${integer(capacityOf(fact.config))}`;
  const period = periodOf(fact);
  const w = seconds(period);
  // A window has whole seconds. For another period, `q` counts the tokens of the rounded window.
  return `q=${integer((rate * w * 1000) / period)};w=${integer(w)}`;
}

function stateOf(fact: LimitFacts): string {
  const { value, retryAfter } = fact;
  const left = `r=${integer(Math.max(0, value))}`;
  const wait = retryAfter ?? untilFull(fact);
  return isNever(wait) ? left : `${left};t=${integer(seconds(wait))}`;
}

/** ms until a token bucket is full, or a fixed window ends. `Infinity` for credits. */
function untilFull(fact: LimitFacts): number {
  return (resetAt(fact) ?? Infinity) - fact.now;
}

/**
 * The length of the period, ms. For days, weeks and months, the length of the present day, week or month.
 */
function periodOf(fact: LimitFacts): number {
  const { config } = fact;
  if (config.kind !== "fixed window") return config.period;
  const { start, end } = windowOf(fact, config);
  return end - start;
}

function windowOf({ now }: LimitFacts, config: FixedWindowConfig) {
  const start = windowAt(config, now);
  return { start, end: windowAfter(config, start, 1) };
}

export function seconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

export function integer(value: number): number {
  return Math.min(MAX_INTEGER, Math.floor(value));
}

/**
 * A string of RFC 9651. The string is ASCII, so other characters are encoded as in a URL. A lone
 * surrogate cannot be encoded, and becomes U+FFFD, the replacement character.
 */
function quoted(text: string): string {
  const ascii = text
    .slice(0, MAX_LENGTH)
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/[^ -~]+/gu, (part) => encodeURIComponent(part));
  return `"${ascii.replace(/["\\]/g, "\\$&")}"`;
}
