/** How changes reach the page. "offline" also where the browser says that it has no network. */
import { onlineManager, useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { UseRateLimitResult } from "trpc-rate-limit/react";

const subscribe = (onChange: () => void) => onlineManager.subscribe(onChange);
const isOnline = () => onlineManager.isOnline();

/** @param limit any limit: each hook knows the connection, which all hooks share. */
export function useConnection({
  connection,
}: UseRateLimitResult): UseRateLimitResult["connection"] {
  // Where the server is in the page, as on the site, calls need no network.
  const { mutations } = useQueryClient().getDefaultOptions();
  const needsNetwork = mutations?.networkMode !== "always";
  // A stream that was open before stays open for a while, although nothing can be sent any more.
  return useSyncExternalStore(subscribe, isOnline, () => true) || !needsNetwork
    ? connection
    : "offline";
}

/** What a press says while there is no network. TanStack Query keeps its call, and sends it then. */
export const SENDS_LATER = "Sends when you are back.";
