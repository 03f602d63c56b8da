/**
 * Types of tRPC by the names that every version 11 has. `@trpc/server` itself exports these types only
 * since 11.4. Applications of tRPC emit declarations that name the same entry point.
 */
import type { DefaultErrorShape } from "@trpc/server/unstable-core-do-not-import";

export type {
  BuiltRouter,
  DefaultErrorShape,
  MiddlewareFunction,
  TRPCErrorShape,
} from "@trpc/server/unstable-core-do-not-import";

/** The types of a procedure, as tRPC knows them. */
export interface Definition<TMeta, TInput, TOutput> {
  input: TInput;
  output: TOutput;
  meta: TMeta;
  errorShape: DefaultErrorShape;
}
