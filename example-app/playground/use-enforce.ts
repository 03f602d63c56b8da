/** Puts a limit into force: between calls, never while one is under way. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { rateLimitRetryDelay } from "trpc-rate-limit/client";
import { isRateLimitError } from "trpc-rate-limit/react";
import { useTRPC } from "../shared/page/trpc.js";
import type { BucketHistory } from "./bucket-history.js";
import type { CallGate } from "./call-gate.js";
import type { PlaygroundChoice } from "./choice.js";

interface EnforceCallbacks {
  onSuccess?: () => void;
  onError?: () => void;
  onSettled?: () => void;
}

export function useEnforce(history: BucketHistory, gate: CallGate) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const isChoosing = useRef(false);
  const [starts, setStarts] = useState(0);
  const mutation = useMutation(
    trpc.playground.choose.mutationOptions({
      // Limit: a denied choice is sent again when it can pass.
      retry: (times, error) => isRateLimitError(error) && times < 3,
      retryDelay: rateLimitRetryDelay,
      onSuccess() {
        history.clear();
        return queryClient.refetchQueries(
          trpc.rateLimit.status.queryFilter({ name: "playground" }),
        );
      },
    }),
  );

  /** Waits for calls that are under way. Later calls wait for the new limit. */
  async function enforce(
    next: PlaygroundChoice,
    callbacks: EnforceCallbacks,
    keepsTokens = false,
  ): Promise<void> {
    isChoosing.current = true;
    if (!keepsTokens) setStarts((before) => before + 1);
    await gate.close();
    // The mutation calls these only while the visitor stays on this part.
    mutation.mutate(
      { ...next, keepsTokens },
      {
        onSuccess: () => callbacks.onSuccess?.(),
        onError: () => callbacks.onError?.(),
        onSettled() {
          isChoosing.current = false;
          gate.open();
          callbacks.onSettled?.();
        },
      },
    );
  }

  return {
    enforce,
    /** `true` from the choice on, before the mutation is pending. */
    isChoosing,
    isPending: mutation.isPending,
    error: mutation.error,
    /** How often a limit has started with a full bucket. */
    starts,
  };
}
