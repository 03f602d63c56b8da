/** Splits limits into groups that fit into one request: streams and batches carry them in the URL. */
import type { RateLimitItem } from "./types.js";

/** The router takes at most this many items per stream. */
const MAX_ITEMS = 100;
/** The most characters that items may take in a URL: servers and proxies reject a URL beyond 8 KB. */
const MAX_LENGTH = 7500;
/** Characters that each item adds: in a stream's input, and in a batch, which repeats the path. */
export const STREAM_OVERHEAD = 3;
export const BATCH_OVERHEAD = 40;

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
