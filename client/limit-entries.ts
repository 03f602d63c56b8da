/** The limits that somebody looks at, each for as long as somebody does. */
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { createEntry, type Entry, idOf, setTruth } from "./limit-entry.js";
import type { RateLimitItem } from "./transport.js";

export interface Entries {
  get(item: RateLimitItem): Entry | undefined;
  /** The one of this limit, new if there is none. */
  open(item: RateLimitItem): Entry;
  all(): Iterable<Entry>;
  /** Forgets those that nobody looks at any more. Returns what names the others; "" for none. */
  prune(): string;
  clear(): void;
}

/** @param recall what an earlier visit left behind of a limit. */
export function createEntries(
  recall: (item: RateLimitItem) => RateLimitSnapshot | undefined,
): Entries {
  const entries = new Map<string, Entry>();
  return {
    get: (item) => entries.get(idOf(item)),
    open(item) {
      const id = idOf(item);
      const known = entries.get(id);
      if (known) return known;
      const entry = createEntry(item);
      entries.set(id, entry);
      const recalled = recall(entry.item);
      if (recalled) setTruth(entry, recalled, recalled.now);
      return entry;
    },
    all: () => entries.values(),
    prune() {
      for (const [id, { watchers }] of entries) if (watchers.size === 0) entries.delete(id);
      return [...entries.keys()].sort().join("\n");
    },
    clear: () => entries.clear(),
  };
}
