/**
 * Says in every part that the server does not answer, for as long as it does not. It is the only one that
 * does: a part says what this means for what it shows.
 */
import { useRateLimit } from "./trpc.js";
import "./offline-banner.css";

export function OfflineBanner() {
  // Limit: each hook knows the connection. All hooks share one.
  const { connection } = useRateLimit("sendMessage");
  return (
    // It is there before its text, so that a screen reader says the text.
    <p className="offline-banner" role="status">
      {connection === "offline" && (
        <span>No connection. The countdown keeps running by itself.</span>
      )}
    </p>
  );
}
