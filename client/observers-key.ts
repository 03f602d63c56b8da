/**
 * The property in which a client's runtime, or this page, holds the observers. In the context of a call
 * of tRPC, this symbol marks calls of observers. `Symbol.for`, so that two copies of the package share
 * the symbol.
 */
export const OBSERVERS = Symbol.for("trpc-rate-limit.observers");
