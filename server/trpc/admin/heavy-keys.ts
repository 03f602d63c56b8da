/**
 * The keys with the most of something, in bounded memory: the Space-Saving summary of Metwally, Agrawal and
 * El Abbadi (2005). A key that is not kept replaces the key with the least, and takes over its number as
 * the most that it may have had before.
 */

/** The keys that are kept of one summary. */
export const KEPT_KEYS = 100;

/** What is known of a key. */
export interface HeavyKey {
  /** The key as the caller gave it; `""` for the shared bucket. */
  readonly key: string;
  /** What was counted since the key is kept. Never more than the key has had. */
  seen: number;
  /** The most that the key may have had before. */
  missed: number;
  /** Calls that were granted since the key is kept. */
  granted: number;
}

/**
 * Of a key with more than 1/100 of the total, something is always kept. `seen` is too low by at most 1/100
 * of the total, also after `merge`.
 */
export class HeavyKeys {
  readonly #byKey = new Map<string, HeavyKey>();
  /** The most that a key may have had that is not kept, where this follows from a `merge`. */
  #floor = 0;

  /** @param count above 0. */
  add(key: string, count: number, granted: number): void {
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.seen += count;
      known.granted += granted;
      return;
    }
    let missed = this.#floor;
    if (this.#byKey.size >= KEPT_KEYS) {
      const least = this.#least()!;
      this.#byKey.delete(least.key);
      missed = Math.max(missed, mostOf(least));
    }
    this.#byKey.set(key, { key, seen: count, missed, granted });
  }

  /** The keys that are kept, in any order. */
  keys(): Iterable<HeavyKey> {
    return this.#byKey.values();
  }

  /** One summary of what several ones have counted. */
  static merge(all: readonly HeavyKeys[]): HeavyKeys {
    const merged = new HeavyKeys();
    const floors = all.reduce((sum, each) => sum + each.#most, 0);
    for (const each of all) {
      for (const { key, seen, missed, granted } of each.#byKey.values()) {
        const known = merged.#byKey.get(key);
        // Begin with the floors of all summaries, and take that of each summary away that has the key.
        const more = missed - each.#most;
        if (known === undefined) {
          merged.#byKey.set(key, { key, seen, missed: floors + more, granted });
          continue;
        }
        known.seen += seen;
        known.missed += more;
        known.granted += granted;
      }
    }
    merged.#floor = floors;
    if (merged.#byKey.size <= KEPT_KEYS) return merged;
    const sorted = [...merged.#byKey.values()].sort((a, b) => mostOf(b) - mostOf(a));
    for (const dropped of sorted.slice(KEPT_KEYS)) {
      merged.#byKey.delete(dropped.key);
      merged.#floor = Math.max(merged.#floor, mostOf(dropped));
    }
    return merged;
  }

  /** The most that a key may have had that is not kept. */
  get #most(): number {
    if (this.#byKey.size < KEPT_KEYS) return this.#floor;
    return Math.max(this.#floor, mostOf(this.#least()!));
  }

  #least(): HeavyKey | undefined {
    let least: HeavyKey | undefined;
    for (const each of this.#byKey.values()) {
      if (least === undefined || mostOf(each) < mostOf(least)) least = each;
    }
    return least;
  }
}

const mostOf = ({ seen, missed }: HeavyKey): number => seen + missed;
