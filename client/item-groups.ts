/** How many limits fit into one request: streams and batches carry their input in the URL. */
import type { RateLimitItem } from "./transport.js";

/** The router takes at most this many items per stream. */
const MAX_ITEMS = 100;
/** The most characters that items may take in a URL: beyond 8 KB, servers and proxies refuse it. */
const MAX_LENGTH = 7500;
/** What an item takes beside itself: in a stream's input, and in a batch, with a path of its own. */
export const STREAM_OVERHEAD = 3;
export const BATCH_OVERHEAD = 40;

/** In groups that one request can carry, in a batch or as a stream. */
export function groupsOf(items: readonly RateLimitItem[], overhead: number): RateLimitItem[][] {
  const groups: RateLimitItem[][] = [];
  let group: RateLimitItem[] = [];
  let length = Infinity;
  for (const item of items) {
    const added = encodeURIComponent(JSON.stringify(item)).length + overhead;
    length += added;
    if (length > MAX_LENGTH || group.length === MAX_ITEMS) {
      groups.push((group = []));
      length = added;
    }
    group.push(item);
  }
  return groups;
}
