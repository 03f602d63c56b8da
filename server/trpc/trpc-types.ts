/**
 * Types of tRPC by the names that every version 11 has. `@trpc/server` itself exports them since
 * 11.4 only. The declarations that tRPC's own applications emit name the same entry point.
 */
import type { DefaultErrorShape } from "@trpc/server/unstable-core-do-not-import";

export type {
  BuiltRouter,
  DefaultErrorShape,
  MiddlewareFunction,
  TRPCErrorShape,
} from "@trpc/server/unstable-core-do-not-import";

/** What tRPC knows of a procedure. */
export interface Definition<TMeta, TInput, TOutput> {
  input: TInput;
  output: TOutput;
  meta: TMeta;
  errorShape: DefaultErrorShape;
}
