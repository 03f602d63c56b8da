/**
 * Cloudflare Workers lends timers, connections and answers to one request each. A request that waits
 * for a timer or an answer of another one is cancelled, and so is one whose other request has ended.
 * So nothing that a store or a limiter shares there may wait: it shares facts, and no promises.
 *
 * It is asked once per store, limiter or router, and not once per call.
 */
export function requestsOwnIo(): boolean {
  // `navigator` is missing from Node.js 20.
  return (globalThis as RuntimeShape).navigator?.userAgent === "Cloudflare-Workers";
}

/** Whether this is the top of a module on Cloudflare Workers, where nothing belongs to a request. */
export function isOutsideOfRequests(): boolean {
  if (!requestsOwnIo()) return false;
  try {
    clearTimeout(setTimeout(() => {}, 0));
    return false;
  } catch {
    // Timers are refused there.
    return true;
  }
}

interface RuntimeShape {
  readonly navigator?: { readonly userAgent?: unknown };
}
