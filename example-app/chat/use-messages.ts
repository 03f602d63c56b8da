/** The newest messages of all visitors. The server sends each new one; the page never asks. */
import type { inferRouterOutputs } from "@trpc/server";
import { useSubscription } from "@trpc/tanstack-react-query";
import { useCallback, useState, useSyncExternalStore } from "react";
import { useTRPC } from "../shared/page/trpc.js";
import type { AppRouter } from "../shared/server/router.js";

export type Message = inferRouterOutputs<AppRouter>["chat"]["send"];

/** The server sends as many after a lost connection, so the list has no gap. */
const SHOWN = 100;

export function useMessages() {
  const trpc = useTRPC();
  const [messages, setMessages] = useState<readonly Message[]>();
  const add = useCallback((added: readonly Message[]) => {
    setMessages((known = []) => merge(known, added));
  }, []);
  // A hidden tab has no stream: over HTTP/1.1, a browser has six connections for all of its tabs.
  const isVisible = useSyncExternalStore(subscribeVisibility, () => !document.hidden);
  // After a lost connection, tRPC asks for what came after the last message that arrived.
  const { status } = useSubscription(
    trpc.chat.messages.subscriptionOptions(
      {},
      { enabled: isVisible, onData: ({ data }) => add(data) },
    ),
  );
  return {
    /** `undefined` until the server has answered. */
    messages,
    add,
    /** Whether messages of others may be missing for the moment. */
    isLost: messages !== undefined && status !== "pending",
  };
}

function subscribeVisibility(onChange: () => void): () => void {
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}

/** A message may arrive twice, and after a later one. */
function merge(known: readonly Message[], added: readonly Message[]): Message[] {
  const byId = new Map([...known, ...added].map((message) => [message.id, message]));
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-SHOWN);
}
