/**
 * Cloudflare Workers gives each timer, connection and answer to one request. A request that waits for a
 * timer or an answer of another request is cancelled, also when the other request has ended. On Workers,
 * the requests of a store or a limiter therefore share facts alone, and no promises.
 *
 * Call this function once per store, limiter or router, and not once per call.
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
    // Workers refuses timers outside of requests.
    return true;
  }
}

interface RuntimeShape {
  readonly navigator?: { readonly userAgent?: unknown };
}
