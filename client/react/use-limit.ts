/** Follows one limit through the provider's observer. The hooks and the meter share it. */
"use client";
import { useCallback, useMemo, useRef, useSyncExternalStore } from "react";
import type { ShownConfig } from "../../core/config.js";
import { levelOf } from "../../core/levels.js";
import type { DenialMessage } from "../../core/errors.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { availableAt, predictStatus, remainingAt } from "../prediction.js";
import type {
  CheckedRateLimit,
  ConnectionState,
  RateLimitObserver,
  RateLimitStatus,
} from "../types.js";
import type { HydrationCache } from "./hydration-cache.js";

/** The options of `useRateLimit`. */
export interface UseRateLimitOptions {
  /** A key to ask the server for; the server decides whether to answer. @default the visitor's own */
  key?: string | undefined;
  /** Tokens that the call would take, a finite number of at least 0. @default 1 */
  count?: number;
  /** `false` does not follow the limit: the server is not asked, and nothing is known. @default true */
  enabled?: boolean | undefined;
}

/** The result of `useRateLimit`: the same object until something in it changes. */
export interface UseRateLimitResult {
  /** `undefined` while nothing is known. */
  readonly status: RateLimitStatus | undefined;
  /**
   * Whole tokens that remain, 0 while the limit is in debt. Reading `value` makes the component follow
   * refills, once a second at most. A component that does not read `value` renders only when `status`
   * changes.
   */
  readonly value: number | undefined;
  /**
   * The highest level of `warnAt` that is reached now, such as 0.8; `undefined` below all levels, and while
   * nothing is known. Reading `level` makes the component follow refills, as reading `value` does.
   */
  readonly level: number | undefined;
  /** The config of the limit; `undefined` while nothing is known. */
  readonly config: ShownConfig | undefined;
  /**
   * Tokens that calls hold and have not settled yet, such as those of a job that runs. `value` does not
   * include them. `undefined` while nothing is known, and for a limit without `holds`.
   */
  readonly held: number | undefined;
  /** How changes arrive from the server. */
  readonly connection: ConnectionState;
  /**
   * Why the server refuses to tell about the limit: the tRPC error, such as `BAD_REQUEST` for a key
   * that this caller may not use. The server is asked again on focus, on reconnect, and when the
   * page follows other limits.
   */
  readonly error: Error | undefined;
  /**
   * Predicts the answer to a call.
   *
   * @param ts when, epoch ms on this machine's clock. @default now
   * @param count tokens. @default the hook's
   */
  check(ts?: number, count?: number): CheckedRateLimit | undefined;
}

/** The value of the context: what a provider shares with the hooks below it. */
export interface RateLimitContextValue {
  observer: RateLimitObserver;
  cache: HydrationCache | undefined;
  /** The message of the error of a call that is not sent, if the application has words of its own. */
  denialMessage?: DenialMessage | undefined;
}

export function useLimit(
  { observer, cache }: RateLimitContextValue,
  name: string,
  options: UseRateLimitOptions = {},
): UseRateLimitResult {
  // `count: undefined` is refused, as NaN is.
  const { key, count = "count" in options ? NaN : 1, enabled = true } = options;
  const item = useMemo(() => ({ name, key }), [name, key]);
  const readsValue = useRef(false);
  const last = useRef(UNKNOWN);
  const initial = useMemo(() => {
    const snapshot = enabled ? cache?.prefetched(item) : undefined;
    const shown = snapshot ? shownAtItsTime(snapshot, count) : UNKNOWN;
    const retryAt = shown.status?.retryAt;
    // For the countdown below this component: the server, and hydration, render it right after this.
    if (retryAt) cache!.seconds.set(retryAt, Math.ceil((retryAt - snapshot!.now) / 1000));
    return shown;
  }, [cache, item, count, enabled]);
  const subscribe = useCallback(
    (onChange: () => void) =>
      enabled ? observer.observe(item, count, onChange, () => readsValue.current) : () => {},
    [observer, item, count, enabled],
  );
  const getSnapshot = () => {
    const status = enabled ? observer.status(item, count) : undefined;
    // Show what the server has rendered until the observer knows the limit. A component that is
    // mounted later shows nothing that old: another user may be logged in.
    const isRendered = last.current === initial && initial.status;
    if (!enabled || (status === undefined && isRendered)) return initial;
    const next: Shown = {
      status,
      value: readsValue.current ? observer.remaining(item) : undefined,
      config: observer.config(item),
      held: observer.held(item),
      connection: observer.connection,
      error: observer.error(item),
    };
    // React needs the same object while nothing in it has changed.
    return sameShown(last.current, next) ? last.current : (last.current = next);
  };
  const shown = useSyncExternalStore(subscribe, getSnapshot, () => (last.current = initial));
  // A result that the server has rendered has its own value, and is of its own instant.
  const isRendered = shown === initial;
  return useMemo(
    () => ({
      ...shown,
      get value() {
        readsValue.current = true;
        return shown.value ?? (isRendered ? undefined : observer.remaining(item));
      },
      get level() {
        readsValue.current = true;
        const now = isRendered ? undefined : observer.check(item, Date.now(), 0);
        const { config, value = 0 } = now ?? shown;
        return config && levelOf(config, value);
      },
      check: (ts: number = Date.now(), wanted: number = count) =>
        enabled ? observer.check(item, ts, wanted) : undefined,
    }),
    // oxlint-disable-next-line react/memo-dependencies -- it does not see that the getter needs it
    [observer, item, count, enabled, shown, isRendered],
  );
}

type Shown = Omit<UseRateLimitResult, "check" | "level">;

const UNKNOWN: Shown = {
  status: undefined,
  value: undefined,
  config: undefined,
  held: undefined,
  connection: "polling",
  error: undefined,
};

/**
 * The status of a snapshot at its own instant, on the server's clock. This status is the same on the
 * server and in the browser that hydrates some time later.
 */
function shownAtItsTime(snapshot: RateLimitSnapshot, count: number): Shown {
  const { now, config, held } = snapshot;
  return {
    ...UNKNOWN,
    status: predictStatus(availableAt(snapshot, count), now),
    value: remainingAt(snapshot, now),
    config,
    held,
  };
}

function sameShown(a: Shown, b: Shown): boolean {
  return (Object.keys(a) as (keyof Shown)[]).every((part) => a[part] === b[part]);
}
