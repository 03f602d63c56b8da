/**
 * Whose bucket a request is about. The server decides; what a client asks for only reaches the
 * application's resolver as a request.
 */
import { TRPCError } from "@trpc/server";

export interface KeyResolverOptions<TContext, TName extends string> {
  ctx: TContext;
  /** The limit that the key is for. */
  name: TName;
  /**
   * The key that the client asked for, in the router's procedures; never trusted by itself. A
   * request for a key is refused when the resolver does not look at this.
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
 * @throws TRPCError `BAD_REQUEST` when the resolver refuses, or ignores what was asked for: an
 * answer about another bucket than the one asked for would be silently wrong.
 */
export async function resolveKey<TContext, TName extends string>(
  resolver: KeyResolver<TContext, TName> | undefined,
  ctx: TContext,
  name: TName,
  requested: string | undefined,
): Promise<string | undefined> {
  let considered = false;
  const key = await resolver?.({
    ctx,
    name,
    get requested() {
      considered = true;
      return requested;
    },
  });
  if (key === null || (requested !== undefined && !considered)) {
    throw new TRPCError({
      code: "BAD_REQUEST",
      message:
        requested === undefined
          ? `There is no key for rate limit "${name}" here`
          : `This key cannot be asked for with rate limit "${name}"`,
    });
  }
  return key;
}
