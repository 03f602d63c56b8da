/** Says whether the page hears of changes at once. */
import { useRateLimit } from "./trpc.js";

const TEXTS = { live: "live", polling: "asking", offline: "offline" } as const;

export function Connection() {
  const { connection } = useRateLimit("sendMessage");
  return (
    <p className="connection" data-state={connection} role="status">
      {TEXTS[connection]}
    </p>
  );
}
