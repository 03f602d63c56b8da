/**
 * Resolves the key of a request's bucket. The server decides. A key that the client asks for reaches only
 * the application's resolver, which may use or ignore the key.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import { validateKey } from "../../core/validate-key.js";
import { type KeyAnswer, noKey, SHARED_BUCKET } from "../limiter/types/key-answer.js";
import { RefusedRequest } from "./refused.js";

/** The argument of a `key` function. */
export interface KeyResolverOptions<TContext, TName extends string> {
  /** The context of the request. */
  ctx: TContext;
  /** The limit that the key is for. */
  name: TName;
  /**
   * The key that the client asked for, in the router's procedures. Check it before you return it. If the
   * resolver ignores the requested key, the request is rejected.
   */
  requested: string | undefined;
}

/** Answers with the key of a request's bucket. The function may also throw a `TRPCError`. */
export type KeyResolver<TContext, TName extends string> = (
  options: KeyResolverOptions<TContext, TName>,
) => KeyAnswer | Promise<KeyAnswer>;

/**
 * @returns the key, or `undefined` for the bucket that all callers share.
 * @throws RefusedRequest `BAD_REQUEST` when the resolver rejects the request, returns `undefined` or
 * ignores the requested key: an answer about another bucket would be silently wrong.
 * @throws RateLimitInputError when the resolver returns a key that is not valid.
 */
export async function resolveKey<TContext, TName extends string>(
  resolver: KeyResolver<TContext, TName>,
  ctx: TContext,
  name: TName,
  requested: string | undefined,
): Promise<string | undefined> {
  const answer = await resolver({ ctx, name, requested });
  const key = keyOf(answer, name, requested);
  // The resolver may make another key of the requested key. If the resolver gives the same answer without
  // the requested key, it has ignored the requested key.
  if (requested !== undefined && key !== requested && answer === (await ownAnswer())) {
    throw keyRejected(name, requested);
  }
  return key;

  async function ownAnswer(): Promise<KeyAnswer> {
    try {
      return await resolver({ ctx, name, requested: undefined });
    } catch {
      return null;
    }
  }
}

/** The key of an answer; `undefined` for the shared bucket. Throws the errors of `resolveKey`. */
export function keyOf(
  answer: KeyAnswer | undefined,
  name: string,
  requested?: string,
): string | undefined {
  if (answer === SHARED_BUCKET) return undefined;
  if (answer === null) {
    throw keyRejected(name, requested, requested === undefined ? noKey(name) : undefined);
  }
  if (answer === undefined) throw keyRejected(name, requested, missingKey(name));
  // Validate the key here: all watched limits are read together, and one invalid key would fail all
  // reads.
  validateKey(answer as string);
  return answer as string;
}

/** An error for the developer, as the `cause` of the client's error. */
function missingKey(name: string): RateLimitConfigError {
  const message =
    `the key function returned undefined for rate limit "${name}"; return the key, null to ` +
    `reject the request, or SHARED_BUCKET for the bucket that all callers share`;
  return new RateLimitConfigError("key", undefined, { message });
}

function keyRejected(name: string, requested: string | undefined, cause?: Error): RefusedRequest {
  const message =
    requested === undefined
      ? noKey(name).message
      : `This caller may not use the requested key of rate limit "${name}"`;
  return new RefusedRequest("BAD_REQUEST", message, cause);
}
