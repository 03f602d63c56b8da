/** The facts that this page knows of its connection to the server. */
import { useEffect, useState } from "react";
import { inspectRateLimits } from "trpc-rate-limit/client";
import { client, useRateLimit } from "../shared/page/trpc.js";
import { useConnection } from "../shared/page/use-connection.js";

const CONNECTIONS = {
  live: "live, by a stream",
  polling: "asking, without a stream",
  offline: "no answer",
} as const;

export function PageFacts() {
  // Limit: each hook knows the connection, which all hooks share.
  const connection = useConnection(useRateLimit("sendMessage"));
  const known = useInspection();
  return (
    <section className="card" aria-labelledby="page-title">
      <h2 id="page-title">This page</h2>
      <dl>
        <dt>Connection</dt>
        <dd>{CONNECTIONS[connection]}</dd>
        <dt>Server’s clock</dt>
        <dd>{clockText(known)}</dd>
        <dt>Round trip</dt>
        <dd>{known && !Number.isNaN(known.lastRoundTrip) ? ms(known.lastRoundTrip) : "unknown"}</dd>
        <dt>Snapshots</dt>
        <dd>{known ? `${known.streamed} streamed, ${known.answered} asked` : "none"}</dd>
      </dl>
    </section>
  );
}

/** Inspects the observer once a second. The header of the page follows a limit, so there is an observer. */
function useInspection() {
  const look = () => inspectRateLimits(client)[0];
  const [known, setKnown] = useState(look);
  useEffect(() => {
    const timer = setInterval(() => setKnown(look), 1000);
    return () => clearInterval(timer);
  }, []);
  return known;
}

function clockText(known: ReturnType<typeof useInspection>): string {
  if (!known || Number.isNaN(known.offset)) return "unknown";
  const { offset, uncertainty } = known;
  const difference =
    offset === 0 ? "equal" : `${ms(Math.abs(offset))} ${offset > 0 ? "ahead" : "behind"}`;
  return uncertainty === Infinity
    ? `${difference}, or further`
    : `${difference}, ± ${ms(uncertainty)}`;
}

function ms(duration: number): string {
  return `${Math.round(duration)} ms`;
}
