/** Reads a denial from the header fields of an answer of 429 that has no facts in its body. */
import { MAX_RETRY_AFTER } from "../../core/config.js";
import type { RateLimitErrorData } from "../../core/errors.js";
import type { LimitUse, RateLimitObserver } from "../types.js";

/** A quoted name and its parameters, in a list of RFC 9651. */
const MEMBER = /"((?:[^"\\]|\\.)*)"((?:;[^,"]*)*)/g;

/**
 * The fields say how many whole seconds the wait is. The config and the server's time are those of an
 * observer that follows the limit. No header field corrects the observer's idea of the server's time.
 *
 * @param at this machine's time, epoch ms.
 * @returns `undefined` where no observer knows the limit, or where no field is about the limit.
 */
export function denialOfFields(
  headers: Headers,
  use: LimitUse,
  observers: Iterable<RateLimitObserver>,
  at: number,
): RateLimitErrorData | undefined {
  for (const observer of observers) {
    const checked = observer.check(use, at, use.count ?? 1);
    if (!checked) continue;
    const { config } = checked;
    const now = Math.floor(checked.now);
    const { wait, value } = waitOf(headers, use.name, now);
    if (!(wait > 0)) return undefined;
    const retryAfter = Math.min(Math.ceil(wait), MAX_RETRY_AFTER);
    return { kind: "RateLimited", name: use.name, retryAfter, value, config, now };
  }
  return undefined;
}

/**
 * @param now the server's time, epoch ms.
 * @returns `wait`: ms; `NaN` where the fields do not say it. `value`: the tokens left.
 */
function waitOf(headers: Headers, name: string, now: number): { wait: number; value: number } {
  const states = headers.get("RateLimit");
  if (states) {
    for (const [, quoted = "", parameters = ""] of states.matchAll(MEMBER)) {
      if (decoded(quoted) !== name) continue;
      const number = (key: string) =>
        Number(new RegExp(`;${key}=(\\d+)`).exec(parameters.replaceAll(" ", ""))?.[1] ?? NaN);
      return { wait: number("t") * 1000, value: number("r") || 0 };
    }
    // Other limits denied the call.
    return { wait: NaN, value: 0 };
  }
  const after = headers.get("Retry-After") ?? "";
  return { wait: /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now, value: 0 };
}

/** The server encodes what is not ASCII, as in a URL. */
function decoded(quoted: string): string {
  const text = quoted.replace(/\\(.)/g, "$1");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
