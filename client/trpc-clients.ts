/**
 * The application's tRPC client, by its structure. tRPC's own type is not named here: CommonJS code gets
 * another copy of that type than ES modules do. The two copies are different types, because each has
 * symbols of its own.
 */
import { getUntypedClient, type TRPCClientRuntime, type TRPCUntypedClient } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";

/** Any tRPC client, from `createTRPCClient`. */
export interface TRPCClientLike {
  /** The client behind the proxy, at tRPC's own symbol. */
  readonly [symbol: symbol]: { readonly runtime: TRPCClientRuntime };
}

/**
 * A client whose router has a router of `createRateLimitTRPC` at `TPath`, with these limits; any
 * client where the names are not known.
 */
export type ClientWithLimits<TName extends string, TPath extends string> = string extends TName
  ? TRPCClientLike
  : ClientAt<TPath, LimitsOfClient<TName>>;

type ClientAt<TPath extends string, TNode> = TPath extends `${infer THead}.${infer TRest}`
  ? { readonly [TKey in THead]: ClientAt<TRest, TNode> }
  : { readonly [TKey in TPath]: TNode };

/** The names of the limits of every router of `createRateLimitTRPC` that a client knows. */
export type ClientLimitName<TClient> = [NamesIn<TClient>] extends [never]
  ? string
  : NamesIn<TClient>;

interface LimitsOfClient<TName extends string> {
  readonly status: { readonly query: (input: { name: TName }) => PromiseLike<unknown> };
  readonly watch: { readonly subscribe: (...args: never[]) => unknown };
}

type NamesIn<TNode> = string extends keyof TNode
  ? never
  : TNode extends LimitsOfClient<infer TName>
    ? TName
    : { [TKey in keyof TNode & string]: NamesIn<TNode[TKey]> }[keyof TNode & string];

/** The client behind the proxy. */
export function untypedOf(client: object): TRPCUntypedClient<AnyTRPCRouter> {
  return getUntypedClient<AnyTRPCRouter>(client as never);
}
