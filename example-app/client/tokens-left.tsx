/** The tokens that remain, and how long the queue is. */
import { useCountdown } from "trpc-rate-limit/react";
import { RateLimitMeter, useRateLimit } from "./trpc.js";

export function TokensLeft() {
  const { value, config } = useRateLimit("llmTokens");
  // A call for no tokens passes when nothing is owed to the queue any more.
  const { status } = useRateLimit("llmTokens", { count: 0 });
  const queue = useCountdown(status?.retryAt);
  const format = (tokens: number | undefined) => tokens?.toLocaleString("en") ?? "…";

  return (
    <div className="tokens-left">
      <RateLimitMeter name="llmTokens" label="Tokens left" className="meter" />
      <p>
        <span>
          <b>{format(value)}</b> of {format(config?.capacity ?? config?.rate)} tokens left
        </span>
        <span>{queue > 0 ? `queue: ${queue} s` : "nothing queued"}</span>
      </p>
    </div>
  );
}
