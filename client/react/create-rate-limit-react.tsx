/** Hooks for one application's router. The names of its limits autocomplete; others do not compile. */
import type { AnyTRPCRouter } from "@trpc/server";
import type { ReactElement, ReactNode } from "react";
import type { CountdownWords } from "../countdown/words.js";
import type { LimitNames, RouterWithLimits } from "../limit-names.js";
import { createTRPCTransport } from "../transport.js";
import type { ClientWithLimits } from "../trpc-clients.js";
import {
  createLimitHooks,
  type LimitHooksOptions,
  type LiveProps,
  type ObservedProps,
  type RateLimitHooks,
} from "./limit-hooks.js";

/** The options of `createRateLimitReact`. */
export interface RateLimitReactOptions<TPath extends string> extends LimitHooksOptions {
  /** The dotted path of the router of `createRateLimitTRPC`, such as `"limits.mine"`. @default "rateLimit" */
  path?: TPath;
}

/** Either a client, or an observer that other code uses as well, such as a test. */
export type RateLimitProviderProps<
  TRouter extends AnyTRPCRouter,
  TPath extends string = "rateLimit",
> = CountdownWords & { children?: ReactNode } & (
    | (LiveProps & {
        /** The application's client, from `createTRPCClient`. */
        client: ClientWithLimits<LimitNames<TRouter, TPath>, TPath>;
      })
    | (ObservedProps & {
        /** Only without an `observer`. */
        client?: undefined;
      })
  );

/** The result of `createRateLimitReact`. */
export interface RateLimitReact<
  TRouter extends AnyTRPCRouter,
  TPath extends string = "rateLimit",
> extends RateLimitHooks<LimitNames<TRouter, TPath>> {
  /**
   * Provides the limits to everything below it. Uses the `QueryClient` above it, if there is one,
   * and refreshes when the window gets the focus or the network is back.
   *
   * @throws Error without a `client` and without an `observer`.
   *
   * @example
   * function App() {
   *   return (
   *     <QueryClientProvider client={queryClient}>
   *       <RateLimitProvider client={trpcClient}>
   *         <Composer />
   *       </RateLimitProvider>
   *     </QueryClientProvider>
   *   );
   * }
   */
  RateLimitProvider(props: RateLimitProviderProps<TRouter, TPath>): ReactElement;
}

/**
 * Makes the hooks and components for one application's router. Call this function once, in a module of
 * its own, and export what it returns.
 *
 * @typeParam TRouter the application's router. A router without a router of `createRateLimitTRPC` at
 * `TPath` does not compile.
 * @typeParam TPath the dotted path of that router, the same as the option `path`.
 *
 * @example
 * import { createRateLimitReact } from "trpc-rate-limit/react";
 *
 * export const { RateLimitProvider, useRateLimit, useRateLimitedMutation, RateLimitCountdown } =
 *   createRateLimitReact<AppRouter>();
 */
export function createRateLimitReact<
  TRouter extends AnyTRPCRouter & RouterWithLimits<TRouter, TPath>,
  const TPath extends string = "rateLimit",
>(options: RateLimitReactOptions<TPath> = {}): RateLimitReact<TRouter, TPath> {
  const { path = "rateLimit" } = options;
  return createLimitHooks<LimitNames<TRouter, TPath>, RateLimitProviderProps<TRouter, TPath>>(
    options,
    (client) => {
      // In plain JavaScript it can be missing, and every hook would wait for ever.
      if (client) return createTRPCTransport(client, path);
      throw new Error(
        "<RateLimitProvider> needs a client: <RateLimitProvider client={trpcClient}>",
      );
    },
    // The keys of tRPC's own `status` queries.
    (input) => [[...path.split("."), "status"], { input, type: "query" }],
  )[0];
}
