/** Texts that were seen, by 53 bits of each: 16 to 32 bytes a text, however long the texts are. */
import { hashOf } from "../changes/change-digest.js";

const FIRST_SIZE = 1024;

/**
 * Of five million texts, one is taken for another one once in 700 walks. A counter is then left out.
 */
export class SeenTexts {
  /** 0 for a free place. The size is a power of 2. */
  #places = new Float64Array(FIRST_SIZE);
  #count = 0;

  /** @returns whether the text is new. */
  add(text: string): boolean {
    if (!put(this.#places, hashOf(text) + 1)) return false;
    this.#count++;
    if (this.#count * 2 > this.#places.length) this.#grow();
    return true;
  }

  #grow(): void {
    const larger = new Float64Array(this.#places.length * 2);
    for (const each of this.#places) if (each !== 0) put(larger, each);
    this.#places = larger;
  }
}

function put(places: Float64Array, value: number): boolean {
  const mask = places.length - 1;
  let at = (value >>> 0) & mask;
  for (; places[at] !== 0; at = (at + 1) & mask) if (places[at] === value) return false;
  places[at] = value;
  return true;
}
