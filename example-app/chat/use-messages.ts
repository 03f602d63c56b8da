/** The newest messages of all visitors. The server sends each new one; the page never asks. */
import type { inferRouterOutputs } from "@trpc/server";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useMemo, useState, useSyncExternalStore } from "react";
import { useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";

export type Message = inferRouterOutputs<AppRouter>["chat"]["send"];

/** The server sends as many after a lost connection, so the list has no gap. */
const SHOWN = 100;

/**
 * @param own the messages in the answers to this page. An answer can come before the stream has its
 *   message.
 */
export function useMessages(own: readonly Message[]) {
  const trpc = useTRPC();
  const [received, setReceived] = useState<readonly Message[]>();
  // A hidden tab has no stream: over HTTP/1.1, a browser has six connections for all of its tabs.
  const isVisible = useSyncExternalStore(subscribeVisibility, () => !document.hidden);
  // After a lost connection, tRPC asks for what came after the last message that arrived.
  const { status } = useSubscription(
    trpc.chat.messages.subscriptionOptions(
      {},
      { enabled: isVisible, onData: ({ data }) => setReceived((known = []) => merge(known, data)) },
    ),
  );
  return {
    /** `undefined` until the server has answered. */
    messages: useMemo(() => received && merge(received, own), [received, own]),
    /** Whether messages of others may be missing for the moment. */
    isLost: received !== undefined && status !== "pending",
  };
}

function subscribeVisibility(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}

/** A message may arrive twice, or after a later message. */
function merge(known: readonly Message[], added: readonly Message[]): Message[] {
  const byId = new Map([...known, ...added].map((message) => [message.id, message]));
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-SHOWN);
}
