/**
 * The hooks and components of one application, however its server is reached. The names of its limits
 * autocomplete; others do not compile.
 */
"use client";
import {
  type DefaultError,
  focusManager,
  onlineManager,
  QueryClientContext,
} from "@tanstack/react-query";
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
} from "react";
import type { DenialMessage } from "../../core/errors.js";
import { announce } from "../countdown/announce.js";
import { CountdownContext } from "../countdown/countdown-context.js";
import { RateLimitCountdown } from "../countdown/rate-limit-countdown.js";
import { useCountdown } from "../countdown/use-countdown.js";
import type { CountdownWords } from "../countdown/words.js";
import { createRateLimitObserver } from "../observer.js";
import type { shareStream } from "../share-stream.js";
import type { LiveMode, RateLimitItem, RateLimitObserver, RateLimitTransport } from "../types.js";
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

/** The options that `createRateLimitReact` has in each entry point. */
export interface LimitHooksOptions {
  /**
   * `shareStream` of `trpc-rate-limit/client` or `trpc-rate-limit/fetch`, so that all tabs of a browser
   * in which providers have the same `caller` share one stream. You pass the import, so that other pages
   * need not load it.
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

/** The properties of a provider that makes an observer of its own. */
export interface LiveProps {
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
  /** Only in a provider that makes no observer of its own. */
  observer?: undefined;
}

/** The properties of a provider of an observer that other code uses as well, such as a test. */
export interface ObservedProps {
  /** An observer of your own, with its own cache. The provider does not close it. */
  observer: RateLimitObserver;
  /** Only without an `observer`. */
  live?: undefined;
  /** Only without an `observer`. */
  pollInterval?: undefined;
  /** Only without an `observer`. */
  caller?: undefined;
}

/** The properties of `RateLimitMeter`. */
export interface RateLimitMeterProps<TName extends string> extends MeterProps {
  /** The limit. */
  name: TName;
  /** The `key` of `useRateLimit`. @default the visitor's own */
  limitKey?: string | undefined;
}

/**
 * The hooks and components of `createRateLimitReact`.
 *
 * @typeParam TName the names of the limits.
 */
export interface RateLimitHooks<TName extends string> {
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
  useRateLimit(name: TName, limitOptions?: UseRateLimitOptions): UseRateLimitResult;
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
  useRateLimitedMutation<
    TData = unknown,
    TError = DefaultError,
    TVariables = void,
    TOnMutateResult = unknown,
  >(
    name: TName,
    mutationOptions: UseRateLimitedMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  ): UseRateLimitedMutationResult<TData, TError, TVariables, TOnMutateResult>;
  /** Seconds until an instant, for people to read. */
  useCountdown: typeof useCountdown;
  /** The wait, on screen and for screen readers. */
  RateLimitCountdown: typeof RateLimitCountdown;
  /**
   * The tokens that remain of a limit, as a bar. Only the bar renders for refills.
   *
   * @example
   * const meter = <RateLimitMeter name="sendMessage" label="Messages left" />;
   */
  RateLimitMeter(props: RateLimitMeterProps<TName>): ReactElement;
}

/** The properties of each provider. A client is of tRPC. */
export type ProviderProps = (LiveProps | ObservedProps) &
  CountdownWords & { client?: object | undefined; children?: ReactNode };

/**
 * @param transportOf makes the transport of a provider that has no observer. Throws where the provider
 * should have a client and has none.
 * @param keyOf the key of a cached snapshot in the application's `QueryClient`.
 * @returns the hooks and components, and what `useRateLimit` takes its context from.
 */
export function createLimitHooks<TName extends string, TProps extends ProviderProps>(
  { shareStream: share, denialMessage }: LimitHooksOptions,
  transportOf: (client: TProps["client"]) => RateLimitTransport,
  keyOf: (item: RateLimitItem) => readonly unknown[],
): [
  hooks: RateLimitHooks<TName> & { RateLimitProvider(props: TProps): ReactElement },
  useRateLimitContext: (user: string) => RateLimitContextValue,
] {
  const RateLimitContext = createContext<RateLimitContextValue | undefined>(undefined);

  function RateLimitProvider(props: TProps): ReactElement {
    const { client, observer: given, live, pollInterval, caller, locale, labels, children } = props;
    const queryClient = useContext(QueryClientContext);
    const value = useMemo((): RateLimitContextValue => {
      let transport = given ? undefined : transportOf(client);
      if (transport && share) transport = share(transport, { caller });
      const cache =
        queryClient &&
        hydrationCache(queryClient, keyOf, async (item) => {
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
        if (!given) observer.close();
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
    if (value) return value;
    throw new Error(
      `${user} needs a <RateLimitProvider> above it, of the same createRateLimitReact()`,
    );
  }

  return [
    {
      RateLimitProvider,
      useRateLimit: (name, limitOptions) =>
        useLimit(useRateLimitContext("useRateLimit"), name, limitOptions),
      useRateLimitedMutation: (name, mutationOptions) =>
        useLimitedMutation(useRateLimitContext("useRateLimitedMutation"), name, mutationOptions),
      useCountdown,
      RateLimitCountdown,
      RateLimitMeter: (props) => useMeter(useRateLimitContext("RateLimitMeter"), props),
    },
    useRateLimitContext,
  ];
}
