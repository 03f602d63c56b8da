/** A link that tells of each call that leaves the page. This link stands behind `rateLimitLink`. */
import type { TRPCLink } from "@trpc/client";
import { observable } from "@trpc/server/observable";
import type { AppRouter } from "../server/router.js";

type Listener = (path: string) => void;
const listeners = new Set<Listener>();

/** @returns a function that removes the listener. */
export function onSentCall(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const tellSentCalls: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) => {
      for (const listener of listeners) listener(op.path);
      return next(op).subscribe(observer);
    });
