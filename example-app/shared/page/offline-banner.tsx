/**
 * Says in every part that the server does not answer, for as long as it does not answer. Only the banner
 * says so. A part says what this means for its own content.
 */
import { useRateLimit } from "./trpc.js";
import "./offline-banner.css";

export function OfflineBanner() {
  // Limit: each hook knows the connection, which all hooks share.
  const { connection } = useRateLimit("sendMessage");
  return (
    // The paragraph is there before its text, so that a screen reader reads the text.
    <p className="offline-banner" role="status">
      {connection === "offline" && (
        <span>No connection. The countdown keeps running by itself.</span>
      )}
    </p>
  );
}
