/**
 * Resolves the key of a request's bucket. The server decides. A key that the client asks for only
 * reaches the application's resolver, which may use it or not.
 */
import { TRPCError } from "@trpc/server";
import { validateKey } from "../../core/validate-key.js";

export interface KeyResolverOptions<TContext, TName extends string> {
  ctx: TContext;
  /** The limit that the key is for. */
  name: TName;
  /**
   * The key that the client asked for, in the router's procedures. Check it before you return it.
   * If the resolver ignores it, the request is rejected.
   */
  requested: string | undefined;
}

/**
 * Returns the key, `undefined` for the bucket that all callers share, or `null` to reject the
 * request. It may also throw a `TRPCError`.
 */
export type KeyResolver<TContext, TName extends string> = (
  options: KeyResolverOptions<TContext, TName>,
) => string | undefined | null | Promise<string | undefined | null>;

/**
 * @throws TRPCError `BAD_REQUEST` when the resolver rejects the request or ignores the requested
 * key: an answer about another bucket would be silently wrong.
 * @throws RateLimitInputError when the resolver returns a key that is not valid.
 */
export async function resolveKey<TContext, TName extends string>(
  resolver: KeyResolver<TContext, TName> = () => undefined,
  ctx: TContext,
  name: TName,
  requested: string | undefined,
): Promise<string | undefined> {
  const key = await resolver({ ctx, name, requested });
  if (key === null) throw keyRejected(name, requested);
  // Validate it here: all watched limits are read together, and one invalid key would fail them
  // all.
  validateKey(key);
  // The resolver may make another key of the requested one. It ignored the requested key if it
  // returns the same key without it.
  if (requested !== undefined && key !== requested && key === (await ownKey())) {
    throw keyRejected(name, requested);
  }
  return key;

  async function ownKey(): Promise<string | undefined | null> {
    try {
      return await resolver({ ctx, name, requested: undefined });
    } catch {
      return null;
    }
  }
}

function keyRejected(name: string, requested: string | undefined): TRPCError {
  return new TRPCError({
    code: "BAD_REQUEST",
    message:
      requested === undefined
        ? `Rate limit "${name}" has no key for this caller`
        : `This caller may not use the requested key of rate limit "${name}"`,
  });
}
