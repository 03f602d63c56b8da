/** Follows the calls of the button: which lines act, and how the last call went. */
import { useQueryClient } from "@tanstack/react-query";
import type { TRPCClientErrorLike } from "@trpc/client";
import { useEffect, useEffectEvent, useState } from "react";
import { isRateLimitError } from "trpc-rate-limit/react";
import { useRateLimit, useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";
import { ANYWAY } from "./call-anyway.js";
import type { Act } from "./shown-code.js";

/** The shortest time for which a line is shown as acting, ms. */
const SEEN = 1000;

/** `took` is ms between the call and its answer. */
export type LastCall =
  | { kind: "granted"; took: number }
  | { kind: "failed"; took: number }
  /** As the server said: its status, and the wait in ms. */
  | { kind: "denied"; took: number; status: number; retryAfter: number };

export function useActs(): { acts: ReadonlySet<Act>; last: LastCall | undefined } {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  // Limit: while it is exhausted, the button waits and sends nothing.
  const { status } = useRateLimit("sendHello");
  const [seen, setSeen] = useState<readonly Act[]>([]);
  const [last, setLast] = useState<LastCall>();
  const isSent = useEffectEvent(() => status?.ok !== false);

  useEffect(() => {
    const key = JSON.stringify(trpc.overview.send.mutationKey());
    const sentAt = new Map<number, number>();
    const timers = new Set<ReturnType<typeof setTimeout>>();

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
      if (action.type === "pending" && (isSent() || event.mutation.meta === ANYWAY)) {
        sentAt.set(id, performance.now());
        see("send");
      }
      const sent = sentAt.get(id);
      if (sent === undefined || (action.type !== "success" && action.type !== "error")) return;
      sentAt.delete(id);
      const took = performance.now() - sent;
      if (action.type === "success") {
        see("decide", "grant");
        setLast({ kind: "granted", took });
      } else if (isRateLimitError(action.error)) {
        see("decide");
        const { data } = action.error as typeof action.error & TRPCClientErrorLike<AppRouter>;
        const { retryAfter } = data.rateLimit;
        setLast({ kind: "denied", took, status: data.httpStatus, retryAfter });
      } else {
        setLast({ kind: "failed", took });
      }
    });
    return () => {
      unsubscribe();
      for (const timer of timers) clearTimeout(timer);
    };
  }, [queryClient, trpc]);

  const acts = new Set(seen);
  if (status?.ok === false) acts.add("wait");
  return { acts, last };
}
