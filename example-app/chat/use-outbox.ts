/** The messages of this page that have no answer yet, and when each of them goes. */
import { useMutationState } from "@tanstack/react-query";
import { useState } from "react";
import { waitsInLine } from "trpc-rate-limit";
import { isWaitCancelled } from "trpc-rate-limit/react";
import { useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import type { Message } from "./use-messages.js";

export interface Pending {
  nonce: string;
  text: string;
  /** Waits for its turn, as opposed to: is on its way. */
  isHeld: boolean;
  /** Its place among the messages that were sent together, from 1. */
  place: number;
  /** When a held message goes, epoch ms. */
  sentAt: number | undefined;
}

export type Outbox = ReturnType<typeof useOutbox>;

export function useOutbox(options: {
  onSent: (message: Message) => void;
  /** Called with the text of each message that was cancelled or could not be sent. */
  onReturned: (text: string) => void;
}) {
  const trpc = useTRPC();
  const [hasFailed, setHasFailed] = useState(false);
  // Limit: sends what it allows, holds the rest, and sends each when its token is there.
  const { mutate, reset, canMutate, retryAt, held, limit } = useRateLimitedMutation("sendMessage", {
    ...trpc.chat.send.mutationOptions({
      onSuccess: options.onSent,
      onError(error, { text }) {
        if (!isWaitCancelled(error)) setHasFailed(true);
        options.onReturned(text);
      },
    }),
    whenLimited: "wait",
  });
  /** How many messages were sent together, the last time. */
  const [total, setTotal] = useState(0);
  const sending = useMutationState({
    filters: { mutationKey: trpc.chat.send.mutationKey(), status: "pending" },
    select: ({ state }) => state.variables as { text: string; nonce: string },
  });

  const then = retryAt === undefined ? undefined : limit.check(retryAt, 0);
  const waits = then ? waitsInLine(then, Array<number>(held + 1).fill(1)) : [];
  /** When each held message goes, epoch ms, and last, when one more would. */
  const times = waits.map((wait) => retryAt! + wait);
  const pending = sending.map(({ nonce, text }, i): Pending => {
    const ahead = i - (sending.length - held);
    const isHeld = ahead >= 0;
    const place = total - sending.length + i + 1;
    return { nonce, text, isHeld, place, sentAt: times[ahead] };
  });

  return {
    pending,
    total,
    held,
    limit,
    hasFailed,
    /** Whether one message would go at once. */
    canSend: canMutate,
    /** When that is so again, epoch ms: behind the messages that are held. */
    canSendAt: times[held],
    send(texts: readonly string[]) {
      setTotal(texts.length);
      setHasFailed(false);
      for (const text of texts) mutate({ text, nonce: crypto.randomUUID() });
    },
    /** Cancels the messages that are held. */
    cancel: reset,
  };
}
