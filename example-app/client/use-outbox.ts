/** The messages of this page that have no answer yet, and when each of them goes. */
import { useMutationState } from "@tanstack/react-query";
import { useState } from "react";
import { useRateLimitedMutation, useTRPC } from "./trpc.js";
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
  /** How many messages were sent together, the last time. */
  const [total, setTotal] = useState(0);
  const [hasFailed, setHasFailed] = useState(false);
  const { mutate, reset, canMutate, retryAt, held, limit } = useRateLimitedMutation("sendMessage", {
    ...trpc.chat.send.mutationOptions({
      onSuccess: options.onSent,
      onError(error, { text }) {
        // A cancelled message fails with an error that is not tRPC's.
        if ((error as Partial<Error>).name !== "AbortError") setHasFailed(true);
        options.onReturned(text);
      },
    }),
    // Sends what the limit allows, holds the rest, and sends each when its token is there.
    whenLimited: "wait",
  });
  const sending = useMutationState({
    filters: { mutationKey: trpc.chat.send.mutationKey(), status: "pending" },
    select: ({ state }) => state.variables as { text: string; nonce: string },
  });

  const { config } = limit;
  const msPerToken = config && config.period !== "month" ? config.period / config.rate : 0;
  /** When the next token is there that no held message takes, after so many that do. */
  const freeAfter = (messages: number) => retryAt && retryAt + messages * msPerToken;
  const pending = sending.map(({ nonce, text }, i): Pending => {
    const ahead = i - (sending.length - held);
    const isHeld = ahead >= 0;
    const place = total - sending.length + i + 1;
    return { nonce, text, isHeld, place, sentAt: isHeld ? freeAfter(ahead) : undefined };
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
    canSendAt: freeAfter(held),
    send(texts: readonly string[]) {
      setTotal(texts.length);
      setHasFailed(false);
      for (const text of texts) mutate({ text, nonce: crypto.randomUUID() });
    },
    /** Cancels the messages that are held. */
    cancel: reset,
  };
}
