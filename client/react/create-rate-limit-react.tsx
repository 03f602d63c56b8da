/** Hooks for one application's router: the names of its limits autocomplete, others do not compile. */
"use client";
import { QueryClientContext } from "@tanstack/react-query";
import type { TRPCClient } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import type { RateLimitConfig } from "../../core/config.js";
import type { ConnectionState } from "../connection.js";
import {
  createRateLimitObserver,
  type RateLimitObserver,
  type RateLimitStatus,
} from "../observer.js";
import type { CheckedRateLimit } from "../prediction.js";
import { createTRPCTransport } from "../transport.js";
import type { LimitNames } from "./limit-names.js";
import { queryCache } from "./query-cache.js";
import { RateLimitCountdown } from "./rate-limit-countdown.js";
import { useCountdown } from "./use-countdown.js";

export interface RateLimitReactOptions<TPath extends string> {
  /** Where the router of `createRateLimitTRPC` stands, with dots. @default "rateLimit" */
  path?: TPath;
}

export interface RateLimitProviderProps<TRouter extends AnyTRPCRouter> {
  /** The application's client, from `createTRPCClient`. */
  client: TRPCClient<TRouter>;
  /** ms between two polls while there is no stream. @default 5000 */
  pollInterval?: number;
  children?: ReactNode;
}

export interface UseRateLimitOptions {
  /** A key to ask the server for; it decides whether to answer. @default the visitor's own */
  key?: string | undefined;
  /** Tokens that the call would take. @default 1 */
  count?: number | undefined;
}

/** The same object until something in it changes. */
export interface UseRateLimitResult {
  /** `undefined` while nothing is known. */
  readonly status: RateLimitStatus | undefined;
  /**
   * Whole tokens left, 0 while some are owed. Reading it makes the component follow refills, once
   * a second at most; a component that does not read it only renders when `status` changes.
   */
  readonly value: number | undefined;
  readonly config: RateLimitConfig | undefined;
  readonly connection: ConnectionState;
  /**
   * What a call would get.
   *
   * @param ts when, epoch ms on this machine's clock. @default now
   * @param count tokens. @default the hook's
   */
  check(ts?: number, count?: number): CheckedRateLimit | undefined;
}

export function createRateLimitReact<
  TRouter extends AnyTRPCRouter,
  const TPath extends string = "rateLimit",
>(options: RateLimitReactOptions<TPath> = {}) {
  const { path = "rateLimit" } = options;
  const ObserverContext = createContext<RateLimitObserver | undefined>(undefined);

  /** Mirrors the limits for everything below it. Uses the `QueryClient` above it, if there is one. */
  function RateLimitProvider({ client, pollInterval, children }: RateLimitProviderProps<TRouter>) {
    const queryClient = useContext(QueryClientContext);
    const observer = useMemo(
      () =>
        createRateLimitObserver({
          transport: createTRPCTransport(client, path),
          cache: queryClient && queryCache(queryClient, path),
          ...(pollInterval !== undefined && { pollInterval }),
        }),
      [client, queryClient, pollInterval],
    );
    useEffect(() => () => observer.close(), [observer]);
    // `.Provider` rather than the context itself, which only React 19 renders.
    return <ObserverContext.Provider value={observer}>{children}</ObserverContext.Provider>;
  }

  /**
   * Whether a call would pass now, and if not, when.
   *
   * @throws Error outside of a `RateLimitProvider`.
   */
  function useRateLimit(
    name: LimitNames<TRouter, TPath>,
    { key, count = 1 }: UseRateLimitOptions = {},
  ): UseRateLimitResult {
    const observer = useContext(ObserverContext);
    if (observer === undefined)
      throw new Error("useRateLimit needs a <RateLimitProvider> above it");
    const item = useMemo(() => ({ name, key }), [name, key]);
    const readsValue = useRef(false);
    const last = useRef(UNKNOWN);
    const subscribe = useCallback(
      (onChange: () => void) => observer.observe(item, count, onChange, () => readsValue.current),
      [observer, item, count],
    );
    const getSnapshot = () => {
      const { connection } = observer;
      const next: Shown = {
        status: observer.status(item, count),
        value: readsValue.current ? observer.left(item) : undefined,
        config: observer.config(item),
        connection,
      };
      // What is shown must be the same object while nothing in it has changed.
      return sameShown(last.current, next) ? last.current : (last.current = next);
    };
    const shown = useSyncExternalStore(subscribe, getSnapshot, () => UNKNOWN);
    return useMemo(
      () => ({
        status: shown.status,
        config: shown.config,
        connection: shown.connection,
        get value() {
          readsValue.current = true;
          return shown.value ?? observer.left(item);
        },
        check: (ts: number = Date.now(), wanted: number = count) =>
          observer.check(item, ts, wanted),
      }),
      [observer, item, count, shown],
    );
  }

  return { RateLimitProvider, useRateLimit, useCountdown, RateLimitCountdown };
}

type Shown = Omit<UseRateLimitResult, "check">;

const UNKNOWN: Shown = {
  status: undefined,
  value: undefined,
  config: undefined,
  connection: "polling",
};

function sameShown(a: Shown, b: Shown): boolean {
  return (
    a.status === b.status &&
    a.value === b.value &&
    a.config === b.config &&
    a.connection === b.connection
  );
}
