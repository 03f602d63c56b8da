/** How an observer reaches the router of `createRateLimitTRPC`, whatever carries the calls. */
import type { AnyTRPCRouter } from "@trpc/server";
import { getUntypedClient, type TRPCClient } from "@trpc/client";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { observersOf } from "./client-observers.js";
import type { RateLimitObserver } from "./observer-types.js";
import type { RouterLimitName } from "./router-names.js";

export interface RateLimitItem<TName extends string = string> {
  name: TName;
  key?: string | undefined;
}

export interface WatchHandlers {
  /** At once for every item when the stream is up, and then whenever one changes. */
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /** The stream is down and tries again by itself. */
  onLost(): void;
  /** The stream has ended and must be opened anew. */
  onEnded(): void;
}

export interface RateLimitTransport<TName extends string = string> {
  status(item: RateLimitItem<TName>): Promise<RateLimitSnapshot>;
  /** Opens one stream for all the items; returns how to close it. */
  watch(items: readonly RateLimitItem<TName>[], handlers: WatchHandlers): () => void;
  /** Where a `rateLimitLink` finds the observers to tell and to ask. */
  readonly observers?: Set<RateLimitObserver>;
}

/** @param path where the router stands in the application's, such as `rateLimit`. */
export function createTRPCTransport<TRouter extends AnyTRPCRouter>(
  client: TRPCClient<TRouter>,
  path: string,
): RateLimitTransport<RouterLimitName<TRouter>> {
  const untyped = getUntypedClient(client);
  return {
    observers: observersOf(untyped.runtime),
    status: (item) => untyped.query(`${path}.status`, item) as Promise<RateLimitSnapshot>,
    watch(items, { onSnapshot, onLost, onEnded }) {
      try {
        const subscription = untyped.subscription(
          `${path}.watch`,
          { items },
          {
            onData: (snapshot) => onSnapshot(snapshot as RateLimitSnapshot),
            onError: onEnded,
            onComplete: onEnded,
            onConnectionStateChange: (connection) => {
              if (connection.state === "connecting" && connection.error) onLost();
            },
          },
        );
        return () => subscription.unsubscribe();
      } catch {
        // Links that know nothing of subscriptions throw here, rather than through `onError`.
        onEnded();
        return () => {};
      }
    },
  };
}
