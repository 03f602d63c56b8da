/**
 * Whose bucket a request is about. The server decides; what a client asks for only reaches the
 * application's resolver as a request.
 */
import { TRPCError } from "@trpc/server";
import { validateKey } from "../../core/key.js";

export interface KeyResolverOptions<TContext, TName extends string> {
  ctx: TContext;
  /** The limit that the key is for. */
  name: TName;
  /**
   * The key that the client asked for, in the router's procedures; never trusted by itself. A
   * request that makes no difference to the answer is refused.
   */
  requested: string | undefined;
}

/**
 * Returns the key, `undefined` for the bucket that all share, or `null` to refuse. May also throw a
 * `TRPCError` of its own.
 */
export type KeyResolver<TContext, TName extends string> = (
  options: KeyResolverOptions<TContext, TName>,
) => string | undefined | null | Promise<string | undefined | null>;

/**
 * @throws TRPCError `BAD_REQUEST` when the resolver refuses, or does not heed what was asked for:
 * an answer about another bucket than the one asked for would be silently wrong.
 * @throws RateLimitInputError when what it resolves to is no key.
 */
export async function resolveKey<TContext, TName extends string>(
  resolver: KeyResolver<TContext, TName> = () => undefined,
  ctx: TContext,
  name: TName,
  requested: string | undefined,
): Promise<string | undefined> {
  const key = await resolver({ ctx, name, requested });
  if (key === null) throw refusal(name, requested);
  // Here, where it is asked for: those who watch are read together, and one key that cannot be read
  // would keep the others' from being read.
  validateKey(key);
  // A key made of the request is as good as the request itself. One that would have been the same
  // without it is not what was asked for.
  if (requested !== undefined && key !== requested && key === (await ownKey())) {
    throw refusal(name, requested);
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

function refusal(name: string, requested: string | undefined): TRPCError {
  return new TRPCError({
    code: "BAD_REQUEST",
    message:
      requested === undefined
        ? `There is no key for rate limit "${name}" here`
        : `This key cannot be asked for with rate limit "${name}"`,
  });
}
