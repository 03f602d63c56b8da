/**
 * Numbers, some of which have a weight. The value of a weighted number is its weight plus the sum of the
 * numbers from it to the end. Example: the numbers 1, 2, 3 with a weight of 10 on the 2 give the value 10
 * + 2 + 3 = 15. A tree keeps the largest value: a change takes as many steps as the tree is deep.
 */
export class MaxSuffix {
  readonly #size: number;
  /** By node: the sum of its numbers. The children of `i` are `2 * i` and `2 * i + 1`. */
  readonly #sums: Float64Array;
  /** By node: the largest value in the node, as if no number came after it. */
  readonly #best: Float64Array;

  /** All numbers are 0 at first, without a weight. */
  constructor(length: number) {
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(2, length)));
    this.#sums = new Float64Array(2 * this.#size);
    this.#best = new Float64Array(2 * this.#size).fill(-Infinity);
  }

  /** Adds to a number. Does nothing for index -1. */
  add(index: number, count: number): void {
    if (index < 0) return;
    const leaf = this.#size + index;
    this.#sums[leaf]! += count;
    this.#best[leaf]! += count;
    this.#update(leaf);
  }

  /** Gives a number its weight, once. */
  weigh(index: number, weight: number): void {
    const leaf = this.#size + index;
    this.#best[leaf] = weight + this.#sums[leaf]!;
    this.#update(leaf);
  }

  /** The largest value. `-Infinity` if no number has a weight. */
  get max(): number {
    return this.#best[1]!;
  }

  /** An index whose value is the largest. */
  get maxIndex(): number {
    let node = 1;
    while (node < this.#size) {
      const [left, right] = [2 * node, 2 * node + 1];
      node = this.#best[right]! >= this.#best[left]! + this.#sums[right]! ? right : left;
    }
    return node - this.#size;
  }

  #update(leaf: number): void {
    for (let node = leaf >> 1; node > 0; node >>= 1) {
      const [left, right] = [2 * node, 2 * node + 1];
      this.#sums[node] = this.#sums[left]! + this.#sums[right]!;
      this.#best[node] = Math.max(this.#best[right]!, this.#best[left]! + this.#sums[right]!);
    }
  }
}
