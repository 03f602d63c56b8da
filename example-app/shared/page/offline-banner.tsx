/**
 * Says in every part that the server does not answer, for as long as it does not answer. Only the banner
 * says so. A part says what this means for its own content.
 */
import { focusManager, useMutationState, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useRateLimit } from "./trpc.js";
import { SENDS_LATER, useConnection } from "./use-connection.js";
import "./offline-banner.css";

export function OfflineBanner() {
  // Limit: each hook knows the connection, which all hooks share.
  const connection = useConnection(useRateLimit("sendMessage"));
  const isOffline = connection === "offline";
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isOffline) return undefined;
    return queryClient.getMutationCache().subscribe((event) => {
      // The server has answered a call, so ask for the limits now, as after a return to the page.
      if (event.type === "updated" && event.action.type === "success") focusManager.onFocus();
    });
  }, [isOffline, queryClient]);
  const isPaused =
    useMutationState({ filters: { predicate: ({ state }) => state.isPaused } }).length > 0;
  return (
    // The paragraph is there before its text, so that a screen reader reads the text.
    <p className="offline-banner" role="status">
      {isOffline && (
        <span>{`No connection. ${isPaused ? SENDS_LATER : "The countdown keeps running by itself."}`}</span>
      )}
    </p>
  );
}
