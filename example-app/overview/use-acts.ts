/** Follows the calls of the button: which lines act, and how the last call went. */
import { useMutationState, useQueryClient } from "@tanstack/react-query";
import type { TRPCClientErrorLike } from "@trpc/client";
import { useEffect, useEffectEvent, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";
import { useConnection } from "../shared/page/use-connection.js";
import { ANYWAY } from "./call-anyway.js";
import type { Act } from "./shown-code.js";
import { watchSleep } from "./watch-sleep.js";

/** The shortest time for which a line is shown as acting, ms. */
const SEEN = 1000;

export type LastCall =
  /** Paused: there is no network. The call is sent when there is one. */
  | { kind: "paused" }
  | { kind: "failed" }
  /** `took` is ms between the call and its answer, `undefined` if the page slept meanwhile. */
  | { kind: "granted"; took: number | undefined }
  /** As the server said: its status, and the wait in ms. */
  | { kind: "denied"; status: number; retryAfter: number };

export function useActs(): { acts: ReadonlySet<Act>; last: LastCall | undefined } {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  // Limit: while it is exhausted, the button waits and sends nothing.
  const limit = useRateLimit("sendHello");
  const { status } = limit;
  const isOffline = useConnection(limit) === "offline";
  const [seen, setSeen] = useState<readonly Act[]>([]);
  const [last, setLast] = useState<LastCall>();
  const [wasOffline, setWasOffline] = useState(isOffline);
  // An answer from before says nothing about a server that does not answer now.
  if (isOffline !== wasOffline) {
    setWasOffline(isOffline);
    if (isOffline) setLast(undefined);
  }
  const isPaused =
    useMutationState({
      filters: {
        mutationKey: trpc.overview.send.mutationKey(),
        predicate: ({ state }) => state.isPaused,
      },
    }).length > 0;
  const isSent = useEffectEvent(() => status?.ok !== false);

  useEffect(() => {
    const key = JSON.stringify(trpc.overview.send.mutationKey());
    const sentAt = new Map<number, number>();
    const timers = new Set<ReturnType<typeof setTimeout>>();
    const sleep = watchSleep();

    function see(...acts: readonly Act[]): void {
      setSeen((all) => [...all, ...acts]);
      const timer = setTimeout(() => {
        timers.delete(timer);
        setSeen((all) => all.slice(acts.length));
      }, SEEN);
      timers.add(timer);
    }

    const unsubscribe = queryClient.getMutationCache().subscribe((event) => {
      if (event.type !== "updated" || JSON.stringify(event.mutation.options.mutationKey) !== key) {
        return;
      }
      const { mutationId: id } = event.mutation;
      const { action } = event;
      // A call that was paused is on its way only now.
      const isStart = action.type === "continue" || (action.type === "pending" && !action.isPaused);
      if (isStart && (isSent() || event.mutation.meta === ANYWAY)) {
        sentAt.set(id, performance.now());
        see("send");
      }
      const sent = sentAt.get(id);
      if (sent === undefined || (action.type !== "success" && action.type !== "error")) return;
      sentAt.delete(id);
      if (action.type === "success") {
        see("decide", "grant");
        const took = sleep.hasSlept(sent) ? undefined : performance.now() - sent;
        setLast({ kind: "granted", took });
      } else if (isRateLimitError(action.error)) {
        const { data } = action.error as typeof action.error & TRPCClientErrorLike<AppRouter>;
        // The page itself denies a call for which it knows no token. That error has no status.
        if (data.httpStatus === undefined) return;
        see("decide");
        const { retryAfter } = data.rateLimit;
        setLast({ kind: "denied", status: data.httpStatus, retryAfter });
      } else {
        setLast({ kind: "failed" });
      }
    });
    return () => {
      unsubscribe();
      sleep.stop();
      for (const timer of timers) clearTimeout(timer);
    };
  }, [queryClient, trpc]);

  const acts = new Set(seen);
  if (status?.ok === false) acts.add("wait");
  // An answer that comes before the page has its limits again is shown together with them.
  const isEarly = isOffline && last?.kind !== "failed";
  return { acts, last: isPaused ? { kind: "paused" } : isEarly ? undefined : last };
}
