/** The limits that are watched. A limit has one entry for all its readers with the same key and plan. */
import { bucketId } from "../../core/bucket-id.js";
import { keyOption } from "../../core/key-option.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { changeDigest } from "../changes/change-digest.js";

export interface WatchItem<TName extends string> {
  name: TName;
  /** The key as the server resolved it. */
  key?: string;
  /** The plan as the server resolved it; `undefined` for a limit without plans. */
  plan: string | undefined;
  /** The key as the client asked for it, and as the snapshots name it. */
  requested: string | undefined;
}

export interface WatchEntry<TName extends string> {
  name: TName;
  key?: string;
  plan: string | undefined;
  snapshot: RateLimitSnapshot<TName> | undefined;
  /** Whether the database may hold a newer state than `snapshot`. */
  stale: boolean;
  /** Why the entry has no rows to read: its readers end with this error. */
  failure?: { error: unknown } | undefined;
  /** Called after each new snapshot; one per reader and item. */
  notify: Set<() => void>;
}

export class WatchEntries<TName extends string> {
  readonly #byId = new Map<string, WatchEntry<TName>>();
  /** Several entries share a digest where callers have different plans of one limit. */
  readonly #byDigest = new Map<string, Set<WatchEntry<TName>>>();

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  all(): Iterable<WatchEntry<TName>> {
    return this.#byId.values();
  }

  /** The entries that a change with this digest concerns. */
  changedBy(digest: string): Iterable<WatchEntry<TName>> | undefined {
    return this.#byDigest.get(digest);
  }

  /** The entry of an item that has a reader. */
  of(item: WatchItem<TName>): WatchEntry<TName> {
    return this.#byId.get(entryIdOf(item))!;
  }

  addReader(item: WatchItem<TName>, notify: () => void): WatchEntry<TName> {
    const entry = this.#byId.get(entryIdOf(item)) ?? this.#add(item);
    // A new reader shows that its key has rows again.
    entry.failure = undefined;
    entry.notify.add(notify);
    return entry;
  }

  removeReader(entry: WatchEntry<TName>, notify: () => void): void {
    entry.notify.delete(notify);
    if (entry.notify.size > 0) return;
    this.#byId.delete(entryIdOf(entry));
    const digest = changeDigest(entry.name, entry.key);
    const others = this.#byDigest.get(digest)!;
    others.delete(entry);
    if (others.size === 0) this.#byDigest.delete(digest);
  }

  #add({ name, key, plan }: WatchItem<TName>): WatchEntry<TName> {
    const entry: WatchEntry<TName> = {
      name,
      ...keyOption(key),
      plan,
      snapshot: undefined,
      stale: true,
      notify: new Set(),
    };
    this.#byId.set(entryIdOf(entry), entry);
    const digest = changeDigest(name, key);
    const others = this.#byDigest.get(digest);
    if (others === undefined) this.#byDigest.set(digest, new Set([entry]));
    else others.add(entry);
    return entry;
  }
}

function entryIdOf({ name, key, plan = "" }: Omit<WatchItem<string>, "requested">): string {
  return `${bucketId(name, key)}\0${plan}`;
}
