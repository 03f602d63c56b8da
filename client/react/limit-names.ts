/** From an application's router type to the names of its limits. */
import type { AnyTRPCRouter, inferRouterInputs } from "@trpc/server";

/** What stands at a dotted path in a type. */
type At<TValue, TPath extends string> = TPath extends `${infer THead}.${infer TRest}`
  ? THead extends keyof TValue
    ? At<TValue[THead], TRest>
    : never
  : TPath extends keyof TValue
    ? TValue[TPath]
    : never;

/**
 * The names of the limits of the rate limit router that stands at `TPath` in `TRouter`; none where
 * there is no such router.
 */
export type LimitNames<TRouter extends AnyTRPCRouter, TPath extends string> = NamesIn<
  At<inferRouterInputs<TRouter>, TPath>
>;

// Asked of `never` itself, a conditional type would infer any string at all.
type NamesIn<TInputs> = [TInputs] extends [never]
  ? never
  : TInputs extends { status: { name: infer TName extends string } }
    ? TName
    : never;
