/** One limit, live, from whatever observer the provider has. The hooks and the meter share it. */
"use client";
import { useCallback, useMemo, useRef, useSyncExternalStore } from "react";
import type { RateLimitConfig } from "../../core/config.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { ConnectionState } from "../connection.js";
import type { RateLimitObserver } from "../observer.js";
import {
  type CheckedRateLimit,
  leftAt,
  opensAt,
  predictStatus,
  type RateLimitStatus,
} from "../prediction.js";
import type { QueryCache } from "./query-cache.js";

export interface UseRateLimitOptions {
  /** A key to ask the server for; it decides whether to answer. @default the visitor's own */
  key?: string | undefined;
  /** Tokens that the call would take, a finite number of at least 0. @default 1 */
  count?: number | undefined;
  /** Whether to look at all: `false` asks the server nothing and knows nothing. @default true */
  enabled?: boolean | undefined;
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

/** What a provider hands down. */
export interface Mirror {
  observer: RateLimitObserver;
  cache: QueryCache | undefined;
}

export function useLimit(
  { observer, cache }: Mirror,
  name: string,
  { key, count = 1, enabled = true }: UseRateLimitOptions,
): UseRateLimitResult {
  const item = useMemo(() => ({ name, key }), [name, key]);
  const readsValue = useRef(false);
  const last = useRef(UNKNOWN);
  const initial = useMemo(() => {
    const snapshot = enabled ? cache?.prefetched(item) : undefined;
    return snapshot ? atItsTime(snapshot, count) : UNKNOWN;
  }, [cache, item, count, enabled]);
  const subscribe = useCallback(
    (onChange: () => void) =>
      enabled ? observer.observe(item, count, onChange, () => readsValue.current) : () => {},
    [observer, item, count, enabled],
  );
  const getSnapshot = () => {
    const status = enabled ? observer.status(item, count) : undefined;
    // What the server has rendered stands until the observer knows better.
    if (!enabled || (status === undefined && initial.status)) return initial;
    const next: Shown = {
      status,
      value: readsValue.current ? observer.left(item) : undefined,
      config: observer.config(item),
      connection: observer.connection,
      isLive: true,
    };
    // What is shown must be the same object while nothing in it has changed.
    return sameShown(last.current, next) ? last.current : (last.current = next);
  };
  const shown = useSyncExternalStore(subscribe, getSnapshot, () => initial);
  return useMemo(
    () => ({
      status: shown.status,
      config: shown.config,
      connection: shown.connection,
      get value() {
        readsValue.current = true;
        return shown.value ?? (shown.isLive ? observer.left(item) : undefined);
      },
      check: (ts: number = Date.now(), wanted: number = count) =>
        enabled ? observer.check(item, ts, wanted) : undefined,
    }),
    [observer, item, count, enabled, shown],
  );
}

interface Shown extends Omit<UseRateLimitResult, "check"> {
  /** Whether an observer says so, who then knows what is left, too. */
  isLive: boolean;
}

const UNKNOWN: Shown = {
  status: undefined,
  value: undefined,
  config: undefined,
  connection: "polling",
  isLive: false,
};

/**
 * What a snapshot said when it was taken, by the server's clock: the same on the server and, some
 * time later, in the browser that hydrates.
 */
function atItsTime(snapshot: RateLimitSnapshot, count: number): Shown {
  const { now, config } = snapshot;
  return {
    ...UNKNOWN,
    status: predictStatus(opensAt(snapshot, count), now),
    value: leftAt(snapshot, now),
    config,
  };
}

function sameShown(a: Shown, b: Shown): boolean {
  return (Object.keys(a) as (keyof Shown)[]).every((part) => a[part] === b[part]);
}
