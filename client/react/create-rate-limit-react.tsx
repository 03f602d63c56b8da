/** Hooks for one application's router. The names of its limits autocomplete; others do not compile. */
"use client";
import {
  type DefaultError,
  focusManager,
  onlineManager,
  QueryClientContext,
} from "@tanstack/react-query";
import type { AnyTRPCRouter } from "@trpc/server";
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
} from "react";
import type { DenialMessage } from "../../core/errors.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { announce } from "../countdown/announce.js";
import { CountdownContext } from "../countdown/countdown-context.js";
import { RateLimitCountdown } from "../countdown/rate-limit-countdown.js";
import { useCountdown } from "../countdown/use-countdown.js";
import type { CountdownWords } from "../countdown/words.js";
import type { LimitNames, RouterWithLimits } from "../limit-names.js";
import { createRateLimitObserver } from "../observer.js";
import type { shareStream } from "../share-stream.js";
import { createTRPCTransport } from "../transport.js";
import type { ClientWithLimits } from "../trpc-clients.js";
import type { LiveMode, RateLimitObserver, RateLimitTransport } from "../types.js";
import { hydrationCache } from "./hydration-cache.js";
import { type MeterProps, useMeter } from "./rate-limit-meter.js";
import {
  type RateLimitContextValue,
  useLimit,
  type UseRateLimitOptions,
  type UseRateLimitResult,
} from "./use-limit.js";
import {
  useLimitedMutation,
  type UseRateLimitedMutationOptions,
  type UseRateLimitedMutationResult,
} from "./use-limited-mutation.js";

/** The options of `createRateLimitReact`. */
export interface RateLimitReactOptions<TPath extends string> {
  /** The dotted path of the router of `createRateLimitTRPC`, such as `"limits.mine"`. @default "rateLimit" */
  path?: TPath;
  /**
   * `shareStream` of `trpc-rate-limit/client`, so that all tabs of a browser in which providers have
   * the same `caller` share one stream. You pass the import, so that other pages need not load it.
   * @default each tab has a stream of its own
   */
  shareStream?: typeof shareStream | undefined;
  /**
   * The message of the error of a call that is not sent (`whenLimited: "reject"`), in words or a
   * language of your own. Errors of other calls have the server's message.
   * @default 'Rate limit "sendMessage" exceeded. Try again in 6 seconds', as the server's
   */
  denialMessage?: DenialMessage | undefined;
}

/** Either a client, or an observer that other code uses as well, such as a test. */
export type RateLimitProviderProps<
  TRouter extends AnyTRPCRouter,
  TPath extends string = "rateLimit",
> = CountdownWords & { children?: ReactNode } & (
    | {
        /** The application's client, from `createTRPCClient`. */
        client: ClientWithLimits<LimitNames<TRouter, TPath>, TPath>;
        /** How the page learns of changes, see {@link LiveMode}. @default "stream" */
        live?: LiveMode;
        /** ms between two polls while there is no stream; more than 0. @default 5000 */
        pollInterval?: number;
        /**
         * The caller, such as the id of the user who is logged in. Tabs with the same `caller` share a
         * stream, so callers that get different answers from the server must have different ones. Needs
         * the option `shareStream`. @default shares nothing
         */
        caller?: string | null | undefined;
        /** Only without a `client`. */
        observer?: undefined;
      }
    | {
        /** An observer of your own, with its own cache. The provider does not close it. */
        observer: RateLimitObserver;
        /** Only without an `observer`. */
        client?: undefined;
        /** Only with a `client`. */
        live?: undefined;
        /** Only with a `client`. */
        pollInterval?: undefined;
        /** Only with a `client`. */
        caller?: undefined;
      }
  );

/** The properties of `RateLimitMeter`. */
export interface RateLimitMeterProps<TName extends string> extends MeterProps {
  /** The limit. */
  name: TName;
  /** The `key` of `useRateLimit`. @default the visitor's own */
  limitKey?: string | undefined;
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
>(options: RateLimitReactOptions<TPath> = {}) {
  const { path = "rateLimit", shareStream: share, denialMessage } = options;
  const RateLimitContext = createContext<RateLimitContextValue | undefined>(undefined);
  const received = new WeakSet<RateLimitSnapshot>();

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
  function RateLimitProvider(props: RateLimitProviderProps<TRouter, TPath>): ReactElement {
    const { client, observer: given, live, pollInterval, caller, locale, labels, children } = props;
    // In plain JavaScript both can be missing, and every hook would wait for ever.
    if (!client && !given) {
      throw new Error(
        "<RateLimitProvider> needs a client: <RateLimitProvider client={trpcClient}>",
      );
    }
    const queryClient = useContext(QueryClientContext);
    const value = useMemo((): RateLimitContextValue => {
      let transport: RateLimitTransport | undefined = client && createTRPCTransport(client, path);
      if (transport && share) transport = share(transport, { caller });
      const cache =
        queryClient &&
        hydrationCache(queryClient, path, received, async (item) => {
          const snapshot = await transport!.status(item);
          observer.receive(snapshot);
          return snapshot;
        });
      const observer =
        given ?? createRateLimitObserver({ transport: transport!, cache, live, pollInterval });
      return { observer, cache, denialMessage };
    }, [client, given, queryClient, live, pollInterval, caller]);
    useEffect(() => {
      const { observer } = value;
      // Create the live region before it is needed. Components below may have used it already.
      announce();
      const refresh = (isBack: boolean) => {
        if (isBack) observer.refresh();
      };
      const unsubscribeFocus = focusManager.subscribe(refresh);
      const unsubscribeOnline = onlineManager.subscribe(refresh);
      return () => {
        unsubscribeFocus();
        unsubscribeOnline();
        if (observer !== given) observer.close();
      };
    }, [value, given]);
    const words = useMemo(
      () => ({ seconds: value.cache?.seconds, locale, labels }),
      [value, locale, labels],
    );
    // `.Provider`, because React 18 does not render the context itself.
    return (
      <RateLimitContext.Provider value={value}>
        <CountdownContext.Provider value={words}>{children}</CountdownContext.Provider>
      </RateLimitContext.Provider>
    );
  }

  function useRateLimitContext(user: string): RateLimitContextValue {
    const value = useContext(RateLimitContext);
    if (value !== undefined) return value;
    throw new Error(
      `${user} needs a <RateLimitProvider> above it, of the same createRateLimitReact()`,
    );
  }

  /**
   * Whether a call would pass now, and if not, when.
   *
   * @throws Error outside of a `RateLimitProvider`.
   *
   * @example
   * function SendButton() {
   *   const { status } = useRateLimit("sendMessage");
   *   return <button disabled={status?.ok === false}>Send</button>;
   * }
   */
  function useRateLimit(
    name: LimitNames<TRouter, TPath>,
    limitOptions: UseRateLimitOptions = {},
  ): UseRateLimitResult {
    return useLimit(useRateLimitContext("useRateLimit"), name, limitOptions);
  }

  /**
   * TanStack's `useMutation` for a procedure with a limit. The mutation debits the limit when it sends,
   * before the server has answered. When a call fails, the tokens come back, unless the answer shows
   * that the call was charged; then the server is asked for the real state.
   *
   * @throws Error outside of a `RateLimitProvider` or a `QueryClientProvider`.
   *
   * @example
   * function SendButton({ text }: { text: string }) {
   *   const send = useRateLimitedMutation("sendMessage", {
   *     mutationFn: (input: { text: string }) => trpcClient.send.mutate(input),
   *   });
   *   return (
   *     <button disabled={!send.canMutate} onClick={() => send.mutate({ text })}>
   *       Send
   *     </button>
   *   );
   * }
   */
  function useRateLimitedMutation<
    TData = unknown,
    TError = DefaultError,
    TVariables = void,
    TOnMutateResult = unknown,
  >(
    name: LimitNames<TRouter, TPath>,
    mutationOptions: UseRateLimitedMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  ): UseRateLimitedMutationResult<TData, TError, TVariables, TOnMutateResult> {
    return useLimitedMutation(useRateLimitContext("useRateLimitedMutation"), name, mutationOptions);
  }

  /**
   * The tokens that remain of a limit, as a bar. Only the bar renders for refills.
   *
   * @example
   * const meter = <RateLimitMeter name="sendMessage" label="Messages left" />;
   */
  function RateLimitMeter(props: RateLimitMeterProps<LimitNames<TRouter, TPath>>): ReactElement {
    return useMeter(useRateLimitContext("RateLimitMeter"), props);
  }

  return {
    RateLimitProvider,
    useRateLimit,
    useRateLimitedMutation,
    useCountdown,
    RateLimitCountdown,
    RateLimitMeter,
  };
}
