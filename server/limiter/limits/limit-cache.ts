/** The resolved limits of the keys that were used lately, by name and key, in a bounded part of the heap. */
export class LimitCache<TLimit> {
  readonly #byName = new Map<string, Map<string | undefined, TLimit>>();
  #bytes = 0;

  get(name: string, key: string | undefined): TLimit | undefined {
    return this.#byName.get(name)?.get(key);
  }

  /** @param bytes about how much the limit may come to hold in the heap. */
  set(name: string, key: string | undefined, limit: TLimit, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) {
      this.#byName.clear();
      this.#bytes = bytes;
    }
    const ofName = this.#byName.get(name);
    if (ofName === undefined) this.#byName.set(name, new Map([[key, limit]]));
    else ofName.set(key, limit);
  }
}

/** The most bytes of all names together: 10,000 limits without shards. */
const MAX_BYTES = 16e6;
