/** Hooks for one application's router: the names of its limits autocomplete, others do not compile. */
"use client";
import {
  type DefaultError,
  focusManager,
  onlineManager,
  QueryClientContext,
} from "@tanstack/react-query";
import type { TRPCClient } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { createContext, type ReactNode, useContext, useEffect, useMemo } from "react";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { createRateLimitObserver, type RateLimitObserver } from "../observer.js";
import { createTRPCTransport } from "../transport.js";
import { announce } from "./announce.js";
import type { LimitNames } from "./limit-names.js";
import { queryCache } from "./query-cache.js";
import { RateLimitCountdown } from "./rate-limit-countdown.js";
import { Meter, type MeterProps } from "./rate-limit-meter.js";
import { useCountdown } from "./use-countdown.js";
import {
  type Mirror,
  useLimit,
  type UseRateLimitOptions,
  type UseRateLimitResult,
} from "./use-limit.js";
import {
  useLimitedMutation,
  type UseRateLimitedMutationOptions,
  type UseRateLimitedMutationResult,
} from "./use-limited-mutation.js";

export interface RateLimitReactOptions<TPath extends string> {
  /** Where the router of `createRateLimitTRPC` stands, with dots. @default "rateLimit" */
  path?: TPath;
}

/** Either a client, or an observer that others use, too, such as a link or a test. */
export type RateLimitProviderProps<TRouter extends AnyTRPCRouter> = { children?: ReactNode } & (
  | {
      /** The application's client, from `createTRPCClient`. */
      client: TRPCClient<TRouter>;
      /** ms between two polls while there is no stream. @default 5000 */
      pollInterval?: number;
      observer?: undefined;
    }
  | {
      /** Stays open when the provider goes, and keeps its snapshots where it was told to. */
      observer: RateLimitObserver;
      client?: undefined;
      pollInterval?: undefined;
    }
);

export interface RateLimitMeterProps<TName extends string> extends MeterProps {
  name: TName;
  /** A key to ask the server for, as the `key` of `useRateLimit`. @default the visitor's own */
  limitKey?: string | undefined;
}

export function createRateLimitReact<
  TRouter extends AnyTRPCRouter,
  const TPath extends string = "rateLimit",
>(options: RateLimitReactOptions<TPath> = {}) {
  const { path = "rateLimit" } = options;
  const MirrorContext = createContext<Mirror | undefined>(undefined);
  const heard = new WeakSet<RateLimitSnapshot>();

  /**
   * Mirrors the limits for everything below it. Uses the `QueryClient` above it, if there is one,
   * and asks anew when the window is looked at again or the network is back.
   */
  function RateLimitProvider(props: RateLimitProviderProps<TRouter>) {
    const { client, observer: given, pollInterval, children } = props;
    const queryClient = useContext(QueryClientContext);
    const mirror = useMemo((): Mirror => {
      const cache = queryClient && queryCache(queryClient, path, heard);
      const observer =
        given ??
        createRateLimitObserver({
          transport: createTRPCTransport(client, path),
          cache,
          pollInterval,
        });
      return { observer, cache };
    }, [client, given, queryClient, pollInterval]);
    useEffect(() => {
      const { observer } = mirror;
      // Its live region has to be there before it is needed; those below may have spoken already.
      announce();
      const refresh = (isBack: boolean) => {
        if (isBack) observer.refresh();
      };
      const unfocus = focusManager.subscribe(refresh);
      const unplug = onlineManager.subscribe(refresh);
      return () => {
        unfocus();
        unplug();
        if (observer !== given) observer.close();
      };
    }, [mirror, given]);
    // `.Provider` rather than the context itself, which only React 19 renders.
    return <MirrorContext.Provider value={mirror}>{children}</MirrorContext.Provider>;
  }

  function useMirror(user: string): Mirror {
    const mirror = useContext(MirrorContext);
    if (mirror !== undefined) return mirror;
    throw new Error(
      `${user} needs a <RateLimitProvider> above it, of the same createRateLimitReact()`,
    );
  }

  /**
   * Whether a call would pass now, and if not, when.
   *
   * @throws Error outside of a `RateLimitProvider`.
   */
  function useRateLimit(
    name: LimitNames<TRouter, TPath>,
    limitOptions: UseRateLimitOptions = {},
  ): UseRateLimitResult {
    return useLimit(useMirror("useRateLimit"), name, limitOptions);
  }

  /**
   * TanStack's `useMutation` for a procedure that a limit guards. Takes the tokens off the mirror
   * as it sends, before the server has answered. When a call fails, they come back unless the
   * server's answer says that it was charged for, and the server is asked what it really holds.
   *
   * @throws Error outside of a `RateLimitProvider` or a `QueryClientProvider`.
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
    return useLimitedMutation(useMirror("useRateLimitedMutation"), name, mutationOptions);
  }

  /** What is left of a limit, as a bar. Follows refills, and renders nothing else for them. */
  function RateLimitMeter({
    name,
    limitKey,
    ...meter
  }: RateLimitMeterProps<LimitNames<TRouter, TPath>>) {
    return (
      <Meter limit={useLimit(useMirror("RateLimitMeter"), name, { key: limitKey })} {...meter} />
    );
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
