/**
 * Reads what a provider says about its limit in the header fields of an answer: the fields of OpenAI
 * (which Azure, Groq and others share), of Anthropic, of the IETF drafts, and `Retry-After`. Never
 * throws: a field that cannot be read counts as missing.
 */
import { DAY, HOUR, MINUTE, SECOND } from "../../core/durations.js";

/** `Headers`, or a plain object as of the AI SDK and of Node. The case of names does not matter. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The options of `rateLimitOfHeaders`. */
export interface RateLimitOfHeadersOptions {
  /**
   * The unit that the limit counts. Fields of the IETF and `X-RateLimit-Remaining` count requests.
   * @default "tokens"
   */
  of?: "tokens" | "requests" | undefined;
  /** The status of the answer. After a 429, calls wait for the reset of the limit, too. */
  status?: number | undefined;
  /** Epoch ms, for fields that are dates. @default the answer's `Date`, or else `Date.now()` */
  now?: number | undefined;
}

/** The figures that `observe` takes. */
export interface RateLimitOfHeaders {
  /**
   * The tokens or requests that are left; 0 where the provider asks to wait. `undefined` if no field
   * says.
   */
  remaining: number | undefined;
  /** Ms until a call may pass again; absent where the provider asks for no wait. */
  retryAfter?: number;
}

type Get = (name: string) => string | undefined;

/**
 * Reads a provider's header fields, for `limiter.observe(name, rateLimitOfHeaders(headers))`. Where a
 * field asks to wait, nothing remains. Of several fields, the smallest figure counts.
 *
 * @example
 * import { rateLimitOfHeaders } from "trpc-rate-limit/ai";
 *
 * const { headers, status } = await fetch("https://api.example.com");
 * await limiter.observe("llmTokens", rateLimitOfHeaders(headers, { status }));
 */
export function rateLimitOfHeaders(
  headers: HeadersLike,
  options: RateLimitOfHeadersOptions = {},
): RateLimitOfHeaders {
  const { of = "tokens", status } = options;
  const get = getterOf(headers);
  const now = options.now ?? dateOf(get("date")) ?? Date.now();
  const { remaining, reset } = of === "tokens" ? tokensOf(get, now) : requestsOf(get, now);
  const wait = bounded(numberOf(get("retry-after-ms"))) ?? waitOf(get("retry-after"), now);
  if (wait !== undefined && wait > 0) return { remaining: 0, retryAfter: wait };
  if (status !== 429 || (remaining !== undefined && remaining > 0)) return { remaining };
  return { remaining: 0, ...(reset !== undefined && reset > 0 && { retryAfter: reset }) };
}

interface Said {
  remaining: number | undefined;
  /** Ms until the whole limit is available again. */
  reset: number | undefined;
}

function tokensOf(get: Get, now: number): Said {
  return {
    remaining: least(
      numberOf(get("x-ratelimit-remaining-tokens")),
      numberOf(get("anthropic-ratelimit-tokens-remaining")),
    ),
    reset:
      waitOf(get("x-ratelimit-reset-tokens"), now) ??
      waitOf(get("anthropic-ratelimit-tokens-reset"), now),
  };
}

function requestsOf(get: Get, now: number): Said {
  // `"default";r=50;t=30`, or in older drafts `limit=100, remaining=50, reset=30`.
  const field = get("ratelimit") ?? "";
  const policies = [...field.matchAll(/(?:^|[;,\s])(?:r|remaining)=(\d+)/g)];
  const resets = [...field.matchAll(/(?:^|[;,\s])(?:t|reset)=(\d+)/g)];
  return {
    remaining: least(
      numberOf(get("x-ratelimit-remaining-requests")),
      numberOf(get("anthropic-ratelimit-requests-remaining")),
      numberOf(get("ratelimit-remaining")),
      numberOf(get("x-ratelimit-remaining")),
      ...policies.map(([, text]) => numberOf(text)),
    ),
    reset:
      waitOf(get("x-ratelimit-reset-requests"), now) ??
      waitOf(get("anthropic-ratelimit-requests-reset"), now) ??
      waitOf(get("ratelimit-reset"), now) ??
      waitOf(get("x-ratelimit-reset"), now) ??
      // Of several policies, the longest wait.
      waitOf(resets.map(([, text]) => text!).toSorted((a, b) => Number(b) - Number(a))[0], now),
  };
}

function least(...figures: (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The longest text of a figure, in characters. */
const MAX_TEXT = 100;

function getterOf(headers: unknown): Get {
  const { get } = Object(headers) as { get?: unknown };
  const lower = new Map<string, unknown>();
  if (typeof get !== "function") {
    for (const [name, value] of Object.entries(Object(headers) as object)) {
      lower.set(name.toLowerCase(), value);
    }
  }
  return (name) => {
    const value: unknown = typeof get === "function" ? get.call(headers, name) : lower.get(name);
    const text = Array.isArray(value) ? (value[0] as unknown) : value;
    if (typeof text === "number") return String(text);
    return typeof text === "string" ? text.trim().slice(0, MAX_TEXT) : undefined;
  };
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+(?:\.\d+)?$/.test(text)) return undefined;
  const figure = Number(text);
  return figure < Infinity ? figure : undefined;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
};
/** A larger number of seconds is an instant in epoch seconds, and no duration. */
const EPOCH_SECONDS = 1e9;
/** The longest wait that `observe` takes. */
const LONGEST_WAIT = 31 * DAY;

/** The ms of a duration such as `1m30s` or `6ms`, or of a number of seconds, or until a date. */
function waitOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  return bounded(durationOf(text, now) ?? untilDate(text, now));
}

function bounded(wait: number | undefined): number | undefined {
  return wait !== undefined && wait <= LONGEST_WAIT ? Math.max(0, Math.ceil(wait)) : undefined;
}

function durationOf(text: string, now: number): number | undefined {
  const seconds = numberOf(text);
  if (seconds !== undefined) {
    return seconds < EPOCH_SECONDS ? seconds * SECOND : seconds * SECOND - now;
  }
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g);
  return [...parts].reduce((sum, [, figure, unit]) => sum + Number(figure) * UNITS[unit!]!, 0);
}

function untilDate(text: string, now: number): number | undefined {
  const date = dateOf(text);
  return date === undefined ? undefined : date - now;
}

/**
 * A date of RFC 3339 or of HTTP, in epoch ms. `Date.parse` alone takes almost anything, such as "on 5".
 */
function dateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d|^[A-Za-z]{3}, \d\d [A-Za-z]{3} \d{4} /.test(text))
    return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
