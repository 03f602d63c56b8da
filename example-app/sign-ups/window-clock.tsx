/** The window as a clock: how much of it is left, and when the next one starts. */
import { useCountdown, type UseRateLimitResult } from "trpc-rate-limit/react";
import { Stable, timeOf } from "../shared/page/pieces.js";
import { useRateLimit } from "../shared/page/trpc.js";

export function WindowClock() {
  // Limit: the config has the period and the start of the windows.
  const window = windowOf(useRateLimit("signUp"));
  // Renders once a second, and at the start of the next window.
  const seconds = useCountdown(window?.end);

  return (
    <div className="window">
      <svg viewBox="0 0 36 36" aria-hidden="true">
        <circle cx="18" cy="18" r="16" pathLength="1" />
        <circle
          cx="18"
          cy="18"
          r="16"
          pathLength="1"
          strokeDasharray={`${window ? (seconds * 1000) / window.period : 0} 1`}
        />
      </svg>
      <p>
        <span>The next window starts in</span>
        <b role="timer" aria-live="off">
          <Stable shown={window ? format(seconds) : "…"} texts={["0:00"]} />
        </b>
        <span>
          at <Stable shown={window ? timeOf(window.end) : "…"} texts={["00:00:00"]} />
        </span>
      </p>
    </div>
  );
}

/** The end of the present window, epoch ms on this machine's clock, and its length in ms. */
function windowOf({ check }: UseRateLimitResult) {
  const now = Date.now();
  // A prediction for no tokens, because a prediction contains the server's time.
  const known = check(now, 0);
  if (known?.config.kind !== "fixed window") return undefined;
  const { period, start = 0 } = known.config;
  if (typeof period === "string") return undefined;
  return { end: now + period - ((known.now - start) % period), period };
}

function format(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
