/** How an observer reaches the router of `createRateLimitTRPC` through a tRPC client. */
import type { TRPCClientRuntime } from "@trpc/client";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { OBSERVERS } from "./observers-key.js";
import { type ClientLimitName, type TRPCClientLike, untypedOf } from "./trpc-clients.js";
import type { RateLimitObserver, RateLimitTransport } from "./types.js";

/**
 * The observers that follow something through one client. The set is a property of the client
 * rather than of this module, so the link and the observers of one client find the same set.
 *
 * @param runtime the object that tRPC hands to a client's links, one per client.
 */
export function observersOf(
  runtime: TRPCClientRuntime & { [OBSERVERS]?: Set<RateLimitObserver> },
): Set<RateLimitObserver> {
  return (runtime[OBSERVERS] ??= new Set());
}

/**
 * The transport of an observer through an application's tRPC client.
 *
 * @param path where the router stands in the application's router, such as `rateLimit`.
 *
 * @example
 * import { createRateLimitObserver, createTRPCTransport } from "trpc-rate-limit/client";
 *
 * const transport = createTRPCTransport(trpcClient, "rateLimit");
 * const observer = createRateLimitObserver({ transport });
 */
export function createTRPCTransport<TClient extends TRPCClientLike>(
  client: TClient,
  path: string,
): RateLimitTransport<ClientLimitName<TClient>> {
  const untyped = untypedOf(client);
  return {
    path,
    observers: observersOf(untyped.runtime),
    status: (item) =>
      untyped.query(`${path}.status`, item, {
        context: { [OBSERVERS]: true },
      }) as Promise<RateLimitSnapshot>,
    watch(items, { onSnapshot, onLost, onEnded }) {
      try {
        const subscription = untyped.subscription(
          `${path}.watch`,
          // tRPC sends the input again when it reconnects, so that the server knows the stream again.
          { items, stream: String(Math.random()) },
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
        // Links without support for subscriptions throw here, rather than through `onError`.
        onEnded();
        return () => {};
      }
    },
  };
}
