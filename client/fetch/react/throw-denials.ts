/**
 * Finds the denial in an answer that did not throw: in the JSON of a `Response`, or in the result of a
 * server function. An error loses its data on its way from a server function, so such a function returns
 * the denial, as in `{ ok: false, denied }`.
 */
import { denialOf } from "../../../core/denial-of.js";
import {
  type DenialMessage,
  isRateLimitError,
  RateLimitError,
  type RateLimitErrorData,
} from "../../../core/errors.js";

/**
 * The same function, but an answer that is a denial is thrown as a `RateLimitError`.
 *
 * @param onDenied gets the answer before it is thrown.
 */
export function throwDenials<TArgs extends unknown[], TData>(
  call: (...args: TArgs) => TData | Promise<TData>,
  message: DenialMessage | undefined,
  onDenied?: (answer: TData) => void,
): (...args: TArgs) => Promise<TData> {
  return async (...args) => {
    const answer = await call(...args);
    const denial = await denialIn(answer);
    if (!denial) return answer;
    onDenied?.(answer);
    throw new RateLimitError(denial, message);
  };
}

/** @param answer the denial itself, an object that has it as a property, or a `Response`, which stays unread. */
async function denialIn(answer: unknown): Promise<RateLimitErrorData | undefined> {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return undefined;
  if (isUnreadDenial(answer)) return denialOf(await answer.clone().text());
  for (const rateLimit of [answer, ...Object.values(answer)] as unknown[]) {
    const error = { data: { rateLimit } };
    if (isRateLimitError(error)) return error.data.rateLimit;
  }
  return undefined;
}

/** A `Response` by its structure, since a host may have another class. */
function isUnreadDenial(answer: object): answer is Response {
  const { status, bodyUsed } = answer as Partial<Response>;
  return status === 429 && bodyUsed === false;
}
