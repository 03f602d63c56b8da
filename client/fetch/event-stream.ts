/** One stream of snapshots over an EventSource, and the watchdog that ends a stream that died silently. */
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { WatchHandlers } from "../types.js";
import type { EventSourceLike } from "./types.js";

/** How long a stream may be silent while the time between two pings is unknown, ms. */
const SILENCE = 45_000;
/** How many pings may be missing. */
const PINGS = 2.5;
/** The least silence that ends a stream, ms. Pings that a proxy held back arrive together. */
const LEAST_SILENCE = 5000;
/** The state of an EventSource that connects anew by itself. */
const CONNECTING = 0;

/**
 * Reads a stream until it ends. A proxy, or a machine that slept, can leave a connection on which nothing
 * arrives any more, and no error is reported. So a stream without any event, pings included, is closed
 * and reported as ended.
 *
 * @returns a function that closes the stream. Then nothing is reported any more.
 */
export function readEventStream(
  source: EventSourceLike,
  { onSnapshot, onLost, onEnded }: WatchHandlers,
): () => void {
  let silence = SILENCE;
  let longestGap = 0;
  let lastPing = NaN;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function close(): void {
    isClosed = true;
    clearTimeout(timer);
    source.close();
  }

  function end(): void {
    close();
    onEnded();
  }

  function watch(): void {
    clearTimeout(timer);
    timer = setTimeout(end, silence);
  }

  source.addEventListener("message", ({ data }) => {
    if (isClosed) return;
    watch();
    const snapshot = parse(data);
    // The observer checks the rest.
    if (snapshot) onSnapshot(snapshot);
  });
  source.addEventListener("ping", () => {
    if (isClosed) return;
    const now = performance.now();
    const gap = now - lastPing;
    lastPing = now;
    // The machine has slept during a longer gap.
    if (gap > longestGap && gap < silence) {
      longestGap = gap;
      silence = Math.max(LEAST_SILENCE, gap * PINGS);
    }
    watch();
  });
  source.addEventListener("error", () => {
    if (isClosed) return;
    if (source.readyState !== CONNECTING) return end();
    // The next ping is of another connection.
    lastPing = NaN;
    onLost();
  });
  watch();
  return close;
}

function parse(data: unknown): RateLimitSnapshot | undefined {
  try {
    return JSON.parse(String(data)) as RateLimitSnapshot;
  } catch {
    return undefined;
  }
}
